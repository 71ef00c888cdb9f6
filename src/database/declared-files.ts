import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { modulesFile } from '#project-modules';
import { importing } from '../core/import-failure.js';

const SOURCE_ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
/** Cached, because listing them takes a tenth of the time of each further startup in the same process, as in test suites. */
let sourceFiles: Promise<string[]> | undefined;

/** The source files that declare a class with one of these names, such as src/pets/pets.dto.ts. Files of packages are not found. */
export async function filesDeclaring(names: readonly string[]): Promise<string[]> {
  const declaration = new RegExp(`\\bclass (?:${names.join('|')})\\b`);
  const files = await (sourceFiles ??= readdir(SOURCE_ROOT, { recursive: true }));
  const sources = files.filter((file) => /\.[jt]s$/.test(file) && !file.endsWith('.d.ts')).toSorted();
  const texts = await Promise.all(sources.map((file) => readFile(join(SOURCE_ROOT, file), 'utf8')));
  return sources
    .filter((_, at) => declaration.test(texts[at] ?? ''))
    .map((file) => `src/${file.replace(/\.js$/, '.ts')}`);
}

/**
 * The classes exported by every file below the source root whose name ends in `.<kind>.ts` (`.js` once built), so that entities and
 * migrations of features need no list. Throws DeclarationError if a file cannot be imported. If the project has a file of modules, features
 * with public names are skipped, because their modules register their tables.
 */
export async function declaredClasses(kind: 'entity' | 'migration'): Promise<(new () => object)[]> {
  const files = await (sourceFiles ??= readdir(SOURCE_ROOT, { recursive: true }));
  const features = modulesFile() === undefined ? [] : featuresIn(files);
  const wanted = files
    .filter((file) => file.endsWith(`.${kind}.js`) || file.endsWith(`.${kind}.ts`))
    .filter((file) => !features.some((feature) => file.startsWith(feature)))
    .toSorted();
  const modules = await importing(() =>
    Promise.all(
      wanted.map(async (file) => (await import(pathToFileURL(join(SOURCE_ROOT, file)).href)) as object),
    ),
  );
  return modules.flatMap((exports) => Object.values(exports).filter(isClass));
}

/**
 * Sentences that name the migrations in the sources of the project that no module registers, and where to add them. Empty in a checkout,
 * where they are found by file name, and without sources.
 */
export async function unregisteredMigrations(migrations: readonly object[]): Promise<string> {
  const file = modulesFile();
  const project = file === undefined ? '' : dirname(dirname(file));
  if (project === '' || !existsSync(join(project, 'src'))) return '';
  const registered = new Set(migrations.map(({ constructor }) => constructor.name));
  const hints: string[] = [];
  for (const path of (await readdir(join(project, 'src'), { recursive: true })).toSorted()) {
    if (!path.endsWith('.migration.ts')) continue;
    const source = join('src', path);
    const text = await readFile(join(project, source), 'utf8');
    const missing = [...text.matchAll(/^export class (\w+\d{13})\b/gm)]
      .flatMap(([, name = '']) => name)
      .filter((name) => !registered.has(name));
    if (missing.length === 0) continue;
    const module =
      (await moduleWithMigrations(project, dirname(source))) ?? 'TablesModule.forFeature() of its module';
    hints.push(`${source} is not registered: add ${missing.join(' and ')} to the migrations in ${module}.`);
  }
  return hints.join(' ');
}

/** The file in a folder of the project with a module that lists its migrations; undefined if there is none. */
export async function moduleWithMigrations(project: string, folder: string): Promise<string | undefined> {
  for (const name of (await readdir(join(project, folder))).toSorted()) {
    const file = join(folder, name);
    if (name.endsWith('.module.ts') && /\bmigrations:/.test(await readFile(join(project, file), 'utf8')))
      return file;
  }
  return undefined;
}

/** The folders of features with public names. */
function featuresIn(files: readonly string[]): string[] {
  return files.flatMap((file) => {
    const [, folder, name] = /^(\w[\w-]*)[/\\]([\w-]+)\.public\.[jt]s$/.exec(file) ?? [];
    return folder !== undefined && folder === name ? folder + sep : [];
  });
}

function isClass(value: unknown): value is new () => object {
  return typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value));
}

import { readFile, readdir } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { modulesFile } from '#project-modules';
import { importing } from '../core/import-failure.js';

const SOURCE_ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
/** Cached: listing them takes a tenth of a second start in the same process, as in test suites. */
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

import { readFile, readdir } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { modulesFile } from '#project-modules';
import { importing } from '../core/import-failure.js';

const SOURCE_ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
/** Read once: reading them takes a tenth of a start in a process that has started the service before, as suites do. */
let sourceFiles: Promise<string[]> | undefined;

/** The files of the source that declare a class of one of these names, as src/pets/pets.dto.ts. A file of a package is not found. */
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
 * The classes exported by every file below the source root whose name ends in `.<kind>.ts` (`.js` once
 * built): this is how a feature's entities and migrations are found without a list to keep. Throws DeclarationError when one
 * cannot be imported. Features of the service whose modules a project may import name their tables themselves: there they are left out.
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

/** The folders of features, which have public names. */
function featuresIn(files: readonly string[]): string[] {
  return files.flatMap((file) => {
    const [, folder, name] = /^(\w[\w-]*)[/\\]([\w-]+)\.public\.[jt]s$/.exec(file) ?? [];
    return folder !== undefined && folder === name ? folder + sep : [];
  });
}

function isClass(value: unknown): value is new () => object {
  return typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value));
}

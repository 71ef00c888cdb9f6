import { cp, mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { bundle } from '../../scripts/bundle.mjs';
import build from './build.js';
import { CATALOGUE, catalogueAppModule, isOfPlatform } from './project-copy.js';
import { ROOT, WITH_CATALOGUE } from './service-process.js';

/** The files of an installed service. */
const PARTS = ['package.json', 'bin', 'schematics', 'dist/docs', 'dist/src'];

/**
 * Runs once before suites that start processes: creates WITH_CATALOGUE, from which they start, from this build. It is this checkout with
 * the catalogue of the test suites instead of its features, so that those can be changed or removed.
 */
export default async function setup(): Promise<void> {
  build();
  const files = (await readdir(CATALOGUE)).map((name) => join(CATALOGUE, name));
  if (await isNewer(WITH_CATALOGUE, [join(ROOT, 'dist/.built'), import.meta.filename, ...files])) return;
  const buildFolder = `${WITH_CATALOGUE}-${process.pid}`;
  for (const part of PARTS)
    await cp(join(ROOT, part), join(buildFolder, part), { recursive: true, filter: isNeeded });
  for (const file of files)
    await compile(await readFile(file, 'utf8'), join(buildFolder, 'dist/src/pets', basename(file)));
  await compile(await catalogueAppModule(), join(buildFolder, 'dist/src/app.module.ts'));
  await bundle(join(buildFolder, 'dist'));
  await rm(WITH_CATALOGUE, { recursive: true, force: true });
  await rename(buildFolder, WITH_CATALOGUE);
}

/** Whether a folder was created after the last change of these files and folders. */
async function isNewer(folder: string, others: readonly string[]): Promise<boolean> {
  if (!existsSync(folder)) return false;
  const [made = 0, ...changed] = await Promise.all(
    [folder, ...others].map(async (path) => (await stat(path)).mtimeMs),
  );
  return changed.every((time) => time < made);
}

/** Whether a process requires a file of the build. */
function isNeeded(path: string): boolean {
  return isOfPlatform(path) && !path.endsWith('.d.ts');
}

/** Compiles a source file without checking its types. */
async function compile(source: string, file: string): Promise<void> {
  const { default: ts } = await import('typescript');
  const { outputText } = ts.transpileModule(source, {
    // As in tsconfig.json.
    compilerOptions: {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2023,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
      useDefineForClassFields: false,
    },
  });
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file.replace(/\.ts$/, '.js'), outputText);
}

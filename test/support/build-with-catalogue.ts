import { cp, mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { bundle } from '../../scripts/bundle.mjs';
import build from './build.js';
import { CATALOGUE, catalogueAppModule, isOfPlatform } from './project-copy.js';
import { ROOT, WITH_CATALOGUE } from './service-process.js';

/** What an installation of the service has. */
const PARTS = ['package.json', 'bin', 'schematics', 'dist/docs', 'dist/src'];

/**
 * Run once before suites that start processes: makes what they start, WITH_CATALOGUE, from this build. It is this checkout with the catalogue
 * of the suites in the place of its features, so that those may change, or go.
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

/** Whether a folder was made after these files and folders have changed. */
async function isNewer(folder: string, others: readonly string[]): Promise<boolean> {
  if (!existsSync(folder)) return false;
  const [made = 0, ...changed] = await Promise.all(
    [folder, ...others].map(async (path) => (await stat(path)).mtimeMs),
  );
  return changed.every((time) => time < made);
}

/** Whether a process needs a file of the build. */
function isNeeded(path: string): boolean {
  return isOfPlatform(path) && !path.endsWith('.d.ts');
}

/** Writes what the compiler makes of a source, without its types being checked. */
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

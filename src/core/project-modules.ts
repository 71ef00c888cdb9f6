import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Type } from '@nestjs/common';
import { modulesFile } from '#project-modules';
import { DeclarationError } from './declaration-errors.js';
import { importing } from './import-failure.js';

/** Files written by a compiler. */
const BUILT = /\.(?:[cm]?js|tsbuildinfo)$/;

/** The classes exported by the file in `petstore.modules`; empty without a project. Throws DeclarationError for an invalid file. */
export async function projectModules(): Promise<readonly Type[]> {
  const file = modulesFile();
  if (file === undefined) return [];
  if (!existsSync(file))
    throw new DeclarationError(
      `${file}, named by petstore.modules in package.json, does not exist. Build the project first (npm run build).`,
    );
  const exported = await importing(async () => (await import(pathToFileURL(file).href)) as object);
  const modules = Object.values(exported).filter((one): one is Type => typeof one === 'function');
  if (modules.length === 0)
    throw new DeclarationError(`${file}, named by petstore.modules in package.json, exports no module.`);
  return modules;
}

/** A line if a source of the project is newer than all built files; empty otherwise, and without sources. */
export async function staleBuild(file = modulesFile()): Promise<string> {
  if (file === undefined) return '';
  const built = dirname(file);
  const [newest, written] = await Promise.all([
    newestIn(join(dirname(built), 'src'), /(?<!\.spec)\.[cm]?ts$/),
    newestIn(built, BUILT),
  ]);
  if (newest <= written) return '';
  return `Sources in ${join(dirname(built), 'src')} are newer than the build in ${built}, which is used unchanged. Build the project (npm run build).\n`;
}

/** The administration's OpenAPI document from a project's build, whose operations are commands; undefined without a project. */
export function adminDocument(file = modulesFile()): string | undefined {
  return file === undefined ? undefined : join(dirname(file), 'openapi-admin.json');
}

/** A line if that document is older than its build; empty otherwise, and without a document. */
export async function staleCommands(file = modulesFile()): Promise<string> {
  const document = adminDocument(file);
  if (document === undefined || !existsSync(document)) return '';
  const { mtimeMs } = await stat(document);
  if ((await newestIn(dirname(document), BUILT)) <= mtimeMs) return '';
  return `The build is newer than ${document}, which defines the commands. Build the project (npm run build).\n`;
}

/** When the newest of the matching files in a folder was written; 0 if there are none. */
async function newestIn(folder: string, names: RegExp): Promise<number> {
  if (!existsSync(folder)) return 0;
  const files = (await readdir(folder, { recursive: true })).filter((name) => names.test(name));
  const times = await Promise.all(files.map(async (name) => (await stat(join(folder, name))).mtimeMs));
  return Math.max(0, ...times);
}

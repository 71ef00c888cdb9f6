import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Type } from '@nestjs/common';
import { modulesFile } from '#project-modules';
import { DeclarationError } from './declaration-faults.js';
import { importing } from './import-failure.js';

/** The classes that the file of `petstore.modules` exports; none without a project. Throws DeclarationError for a wrong file. */
export async function projectModules(): Promise<readonly Type[]> {
  const file = modulesFile();
  if (file === undefined) return [];
  if (!existsSync(file))
    throw new DeclarationError(
      `There is no ${file}, which package.json names by petstore.modules: build the project first (npm run build).`,
    );
  const exported = await importing(async () => (await import(pathToFileURL(file).href)) as object);
  const modules = Object.values(exported).filter((one): one is Type => typeof one === 'function');
  if (modules.length === 0)
    throw new DeclarationError(`${file}, which package.json names by petstore.modules, exports no module.`);
  return modules;
}

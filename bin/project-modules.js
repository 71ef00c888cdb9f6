// Where the service is a dependency of a project: which modules that project adds, named once in its package.json.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { softwareFolder } from './supported-node.js';

/**
 * The file that `petstore.modules` of the project's package.json names: of the nearest package.json above the working directory
 * that has it, within the folder that the service is installed in. Undefined in a checkout of the service, and where no
 * package.json names one.
 */
export function modulesFile() {
  const [installedIn, ...below] = softwareFolder().split(`${sep}node_modules${sep}`);
  if (below.length === 0) return undefined;
  const isWithin = `${process.cwd()}${sep}`.startsWith(`${installedIn}${sep}`);
  for (let folder = isWithin ? process.cwd() : installedIn; ; folder = dirname(folder)) {
    const file = join(folder, 'package.json');
    const modules = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).petstore?.modules : undefined;
    if (modules !== undefined) return resolve(folder, modules);
    if (folder === installedIn) return undefined;
  }
}

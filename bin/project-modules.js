// What package.json says of the service: the modules that a project adds, and settings.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { softwareFolder } from './supported-node.js';

/**
 * The file that `petstore.modules` of the project's package.json names: of the nearest package.json above the working directory
 * that has it, within the folder that the service is installed in. Undefined in a checkout of the service, and where no
 * package.json names one.
 */
export function modulesFile() {
  const { folder, modules } = project() ?? {};
  return modules === undefined ? undefined : resolve(folder, modules);
}

/** The variables in `petstore.settings` of the project's package.json, which is found as that of the modules; in a checkout those of its own. */
export function projectSettings() {
  const { settings = {} } = project() ?? manifestOf(softwareFolder()) ?? {};
  return Object.fromEntries(Object.entries(settings).map(([variable, text]) => [variable, String(text)]));
}

/** The folder of the project, and what its package.json has for the service; undefined in a checkout, and without modules. */
function project() {
  const [installedIn, ...below] = softwareFolder().split(`${sep}node_modules${sep}`);
  if (below.length === 0) return undefined;
  const isWithin = `${process.cwd()}${sep}`.startsWith(`${installedIn}${sep}`);
  for (let folder = isWithin ? process.cwd() : installedIn; ; folder = dirname(folder)) {
    const manifest = manifestOf(folder);
    if (manifest?.modules !== undefined) return { folder, ...manifest };
    if (folder === installedIn) return undefined;
  }
}

function manifestOf(folder) {
  const file = join(folder, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).petstore : undefined;
}

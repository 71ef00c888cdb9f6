// Reads the configuration of the service in package.json: the modules that a project adds, and settings.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { softwareFolder } from './supported-node.js';

/**
 * The file named by `petstore.modules` in the project's package.json, which is the nearest one with this member: in the working directory
 * or above it, up to the folder in which the service is installed. Undefined in a checkout of the service, and if no package.json has the
 * member.
 */
export function modulesFile() {
  const { folder, modules } = project() ?? {};
  return modules === undefined ? undefined : resolve(folder, modules);
}

/** The variables in `petstore.settings` of the project's package.json, found as for modulesFile(), or of a checkout's package.json. */
export function projectSettings() {
  const { settings = {} } = project() ?? manifestOf(softwareFolder()) ?? {};
  return Object.fromEntries(Object.entries(settings).map(([variable, text]) => [variable, String(text)]));
}

/** The folder of the project and its configuration of the service; undefined in a checkout, and without modules. */
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

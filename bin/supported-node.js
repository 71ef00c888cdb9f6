// Which versions of Node.js run the service: `engines` of package.json, read here alone. Whatever starts loads this first, so it has
// only syntax and imports that Node.js had long before those versions.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that the software was installed in: the nearest above this file, or above the bundle that it is part of, with a package.json. */
export function softwareFolder() {
  const here = dirname(fileURLToPath(import.meta.url));
  for (let folder = here; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (folder === dirname(folder))
      throw new Error(`There is no package.json above ${here}. Copy dist with it and with node_modules.`);
  }
}

/** The range of package.json, such as `^20.19.0 || >=24.0.0`. */
export function supportedNode() {
  return JSON.parse(readFileSync(join(softwareFolder(), 'package.json'), 'utf8')).engines.node;
}

/** Whether a version such as `20.19.4` is in a range of `^1.2.3` and `>=1.2.3`, joined by `||`. Throws for a range of another form. */
export function isInRange(version, range) {
  const numbers = numbersOf(version);
  return range.split('||').some((part) => {
    const found = /^(\^|>=)(\d+\.\d+\.\d+)$/.exec(part.trim());
    if (!found) throw new Error(`"${range}" is no range of ^1.2.3 and >=1.2.3, joined by ||.`);
    const least = numbersOf(found[2]);
    return isAtLeast(numbers, least) && (found[1] === '>=' || numbers[0] === least[0]);
  });
}

/** What to do where this Node.js does not run the service, in a sentence; undefined where it does. */
export function nodeVersionError() {
  const range = supportedNode();
  if (isInRange(process.versions.node, range)) return undefined;
  return `Node.js ${process.versions.node} does not run this service: install the current LTS of https://nodejs.org/ (${range} run it).`;
}

/** Ends the process with 1, and a sentence on standard error, where this Node.js does not run the service. */
export function refuseOtherNode() {
  let reason;
  try {
    reason = nodeVersionError();
  } catch (error) {
    reason = error.message;
  }
  if (reason === undefined) return;
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}

function numbersOf(version) {
  // What follows a hyphen marks a version before the release, whose features it has.
  return version.split('-')[0].split('.').map(Number);
}

function isAtLeast(numbers, least) {
  const differing = least.findIndex((number, at) => numbers[at] !== number);
  return differing === -1 || numbers[differing] > least[differing];
}

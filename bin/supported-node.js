// The versions of Node.js that can run the service, from `engines` in package.json. Every entry point loads this file first, so it uses
// only syntax and imports that much older versions of Node.js support.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The folder in which the software is installed: the nearest folder with a package.json above this file, or above the bundle that contains
 * it.
 */
export function softwareFolder() {
  const here = dirname(fileURLToPath(import.meta.url));
  for (let folder = here; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (folder === dirname(folder))
      throw new Error(
        `There is no package.json above ${here}. Copy package.json and node_modules together with dist.`,
      );
  }
}

/** The range in package.json, such as `^20.19.0 || >=24.0.0`. */
export function supportedNode() {
  return JSON.parse(readFileSync(join(softwareFolder(), 'package.json'), 'utf8')).engines.node;
}

/** Whether a version such as `20.19.4` is in a range of `^1.2.3` and `>=1.2.3`, joined by `||`. Throws for any other form of range. */
export function isInRange(version, range) {
  const numbers = numbersOf(version);
  return range.split('||').some((part) => {
    const found = /^(\^|>=)(\d+\.\d+\.\d+)$/.exec(part.trim());
    if (!found)
      throw new Error(`"${range}" is not a range of the form ^1.2.3 or >=1.2.3, or several joined by ||.`);
    const least = numbersOf(found[2]);
    return isAtLeast(numbers, least) && (found[1] === '>=' || numbers[0] === least[0]);
  });
}

/** The problem and its remedy if this version of Node.js cannot run the service; undefined if it can. */
export function nodeVersionError() {
  const range = supportedNode();
  if (isInRange(process.versions.node, range)) return undefined;
  return `Node.js ${process.versions.node} cannot run this service. Install the current LTS version from https://nodejs.org/ (supported: ${range}).`;
}

/** Exits with 1 and a message on standard error if this version of Node.js cannot run the service. */
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
  // The part after a hyphen marks a prerelease, which has the features of its release.
  return version.split('-')[0].split('.').map(Number);
}

function isAtLeast(numbers, least) {
  const differing = least.findIndex((number, at) => numbers[at] !== number);
  return differing === -1 || numbers[differing] > least[differing];
}

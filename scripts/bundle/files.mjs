// The files below a folder.
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Files that docs/page-files.js reads: they lie beside the bundle as they lie in src. */
export const STATIC = /(^|\/)static\//;

/** The modules below a folder; scripts that pages load in a browser are none of the service. */
export function filesOf(folder) {
  return filesBelow(folder).filter((file) => file.endsWith('.js') && !STATIC.test(file));
}

/** Every file below a folder, by its path from there, with slashes. */
export function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
}

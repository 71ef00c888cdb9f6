import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The root of page files: src, dist/src, or a bundle. The bundler keeps this file separate, at the same place below the root (`ENTRIES` in
 * scripts/bundle.mjs), because it locates the others relative to itself.
 */
const SOURCE_ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** The bytes of a static file by its name below the source root, which must come from the source code, never from a request. */
export function pageFile(name: string): Promise<Buffer> {
  return readFile(join(SOURCE_ROOT, name));
}

/** The names of the static files in a folder below the source root. */
export function namesOfPageFiles(folder: string): string[] {
  return readdirSync(join(SOURCE_ROOT, folder));
}

/**
 * The text of a guide by its file name in docs, which is next to src in the repository and, as a copy that the build creates, next to the
 * bundles in dist. `nest start --watch` creates no copy and reads the repository's.
 */
export async function guideFile(name: string): Promise<string> {
  const path = join(SOURCE_ROOT, '..', 'docs', name);
  return readFile(existsSync(path) ? path : join(SOURCE_ROOT, '..', '..', 'docs', name), 'utf8');
}

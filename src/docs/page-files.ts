import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The folder of the files of pages: src, dist/src, or a bundle. The bundler keeps this file separate, at the same place
 * below the root (`ENTRIES` in scripts/bundle.mjs), because it finds the others from where it is itself.
 */
const SOURCE_ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** The bytes of a static file by its name below the source root, which is written in the source, never one from a request. */
export function pageFile(name: string): Promise<Buffer> {
  return readFile(join(SOURCE_ROOT, name));
}

/** The names of the static files in a folder below the source root. */
export function namesOfPageFiles(folder: string): string[] {
  return readdirSync(join(SOURCE_ROOT, folder));
}

/**
 * The text of a guide by its file name in docs, which is next to src or the bundles: in the repository, or as the copy that the build makes
 * in dist. `nest start --watch` makes no copy and reads that of the repository.
 */
export async function guideFile(name: string): Promise<string> {
  const beside = join(SOURCE_ROOT, '..', 'docs', name);
  return readFile(existsSync(beside) ? beside : join(SOURCE_ROOT, '..', '..', 'docs', name), 'utf8');
}

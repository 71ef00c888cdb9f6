import { existsSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The version of the software, of the package.json that the source or its bundle belongs to. */
export function softwareVersion(): string {
  return (JSON.parse(readFileSync(join(softwareFolder(), 'package.json'), 'utf8')) as { version: string })
    .version;
}

/** The folder that the software was installed in: the nearest above this file that has a package.json. */
export function softwareFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}

/** What Node.js 22.1 and newer have; NODE_DISABLE_COMPILE_CACHE=1 turns it off. */
interface CompileCache {
  readonly enableCompileCache?: (folder: string) => unknown;
}

/**
 * Has Node.js keep the code that it compiles from now on for the next start. It lies in dist, not in the default folder for temporary
 * files, where another user could put code for the service to run. Node.js goes without it where dist cannot be written.
 */
export function keepCompiled(): void {
  (module as CompileCache).enableCompileCache?.(join(softwareFolder(), 'dist', '.compiled'));
}

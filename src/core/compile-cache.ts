import module from 'node:module';
import { join } from 'node:path';
import { softwareFolder } from '#supported-node';

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

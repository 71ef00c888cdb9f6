import module from 'node:module';
import { join } from 'node:path';
import { softwareFolder } from '../../core/software-version.js';

/** What Node.js has of it from 22.1 on; NODE_DISABLE_COMPILE_CACHE=1 turns it off. */
interface CompileCache {
  readonly enableCompileCache?: (folder: string) => unknown;
}

/**
 * Has Node.js keep what it compiles from now on for the next start, in dist, which each build makes anew. Node.js takes nothing of it
 * for other code or by another version, and goes on without it where dist cannot be written.
 */
export function keepCompiled(): void {
  // Not in a folder for temporary files, the default: whoever else writes there could have the service run code.
  (module as CompileCache).enableCompileCache?.(join(softwareFolder(), 'dist', '.compiled'));
}

import module from 'node:module';
import { join } from 'node:path';
import { softwareFolder } from '#supported-node';

/** What Node.js 22.1 and newer have; NODE_DISABLE_COMPILE_CACHE=1 turns it off. */
interface CompileCache {
  readonly enableCompileCache?: (folder: string) => unknown;
}

/** Has Node.js keep compiled code for the next start, in dist: into the default folder another user could put code. */
export function keepCompiled(): void {
  (module as CompileCache).enableCompileCache?.(join(softwareFolder(), 'dist', '.compiled'));
}

import module from 'node:module';
import { join } from 'node:path';
import { softwareFolder } from '#supported-node';

/** The compile cache of Node.js 22.1 and newer; NODE_DISABLE_COMPILE_CACHE=1 turns it off. */
interface CompileCache {
  readonly enableCompileCache?: (folder: string) => unknown;
}

/** Caches compiled code for the next startup, in dist, because another user could plant code in the default folder. */
export function enableCompileCache(): void {
  (module as CompileCache).enableCompileCache?.(join(softwareFolder(), 'dist', '.compiled'));
}

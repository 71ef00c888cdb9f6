import { readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * The path of a database file past all links: SQLite has `-wal`, `-shm` and `-journal` beside it. The file itself may be missing, also
 * where a link leads to it. Throws ENOENT when its folder is missing.
 */
export async function realFileOf(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    const target = await readlink(file).catch(() => undefined);
    if (target !== undefined) return realFileOf(resolve(dirname(file), target));
    return join(await realpath(dirname(file)), basename(file));
  }
}

import { realpath, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';

/** With less free room than this a disk is full, in bytes: what fits would fill it at once. */
export const LEAST_FREE_BYTES = 1_048_576;

/** Free room on the disk of a file, which need not be there, in bytes. */
export async function freeBytesBeside(file: string): Promise<number> {
  // A link leads to the disk that matters.
  const { bavail, bsize } = await statfs(dirname(await realpath(file).catch(() => file)));
  return bavail * bsize;
}

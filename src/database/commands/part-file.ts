import { randomUUID } from 'node:crypto';
import { link, open, readdir, rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { SIDECARS, makePrivateFile } from '../sqlite/private-files.js';
import { messageOf } from '../sqlite/troubles/sqlite-errors.js';
import { Refusal } from '../../core/refusal.js';

/** In the hidden names of files that this machine writes; processes of two containers may have the same number. */
const PART = `.part-${hostname().replaceAll(/[^\w-]/g, '_')}-`;
/** The digits are the id of the process that writes it; the random part distinguishes two machines with the same name. */
const LEFT_OVER = new RegExp(`^\\..+\\${PART}(\\d+)-[\\da-f]{8}(?:${SIDECARS.join('|')})?$`);

/** The hidden name beside a file under which it is written. */
export function partOf(final: string): string {
  return join(dirname(final), `.${basename(final)}${PART}${process.pid}-${randomUUID().slice(0, 8)}`);
}

/** A file that is written under a hidden name beside its final one. The next one in the folder removes leftovers of killed processes. */
export class PartFile {
  private constructor(
    readonly path: string,
    /** Path of the final file. */
    private readonly final: string,
  ) {}

  /** Makes it, empty, for its owner alone. Throws Refusal when the folder is missing or may not be written to. */
  static async beside(final: string): Promise<PartFile> {
    const folder = dirname(final);
    const path = partOf(final);
    try {
      await removeLeftOvers(folder);
      await makePrivateFile(path);
    } catch (error) {
      throw new Refusal(
        `The folder ${folder} cannot be written to (${messageOf(error)}). Create it, free space on its disk, or give this user the ` +
          'permission; or name a file in another.',
      );
    }
    return new PartFile(path, final);
  }

  /** Gives it its final name once it is on the disk. Only with `overwrite` it takes the place of a file there; else it throws Refusal. */
  async finish({ overwrite }: { readonly overwrite: boolean }): Promise<void> {
    try {
      await synced(this.path);
      if (overwrite) await rename(this.path, this.final);
      else await giveName(this.path, this.final, ALREADY_THERE);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      throw new Refusal(
        `${this.path} was removed before it was complete, by another backup to this name or by hand. Try again.`,
      );
    }
    await synced(dirname(this.final));
  }

  /** Removes it and what SQLite has beside it; nothing is left, unless it has its final name. */
  async remove(): Promise<void> {
    for (const end of ['', ...SIDECARS]) await rm(`${this.path}${end}`, { force: true });
  }
}

/** Why an existing file is not overwritten. */
export const ALREADY_THERE = 'already exists. Name another file, or give --overwrite.';

/**
 * Gives a file an unused name: unlike a rename, a link never replaces a file that was created in the meantime. Throws
 * Refusal with these words about the name then.
 */
export async function giveName(path: string, name: string, taken: string): Promise<void> {
  try {
    await link(path, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw new Refusal(`${name} ${taken}`);
    // A file system without links.
    await rename(path, name);
    return;
  }
  await rm(path);
}

/** Syncs a file, or a folder with its entries, to the disk. */
export async function synced(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function removeLeftOvers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, pid] = LEFT_OVER.exec(name) ?? [];
    if (pid !== undefined && !isRunning(Number(pid))) await rm(join(folder, name), { force: true });
  }
}

function isRunning(pid: number): boolean {
  // In a container a process may have the number of the one that was killed before it.
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

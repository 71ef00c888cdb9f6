import { randomUUID } from 'node:crypto';
import { link, open, readdir, rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { SIDECARS, createPrivateFile } from '../sqlite/private-files.js';
import { messageOf } from '../sqlite/availability/sqlite-errors.js';
import { Refusal } from '../../core/refusal.js';

/** Part of the names of temporary files. It contains the host name, because processes in two containers may have the same id. */
const PART = `.part-${hostname().replaceAll(/[^\w-]/g, '_')}-`;
/** The digits are the process id; the random part tells apart two machines with the same name. */
const STALE = new RegExp(`^\\..+\\${PART}(\\d+)-[\\da-f]{8}(?:${SIDECARS.join('|')})?$`);

/** A hidden name, next to the final one, for the incomplete file. */
export function temporaryPathFor(final: string): string {
  return join(dirname(final), `.${basename(final)}${PART}${process.pid}-${randomUUID().slice(0, 8)}`);
}

/**
 * A file that is written under a hidden name next to its final one. Creating one removes those that killed processes left in the folder.
 */
export class TemporaryFile {
  private constructor(
    readonly path: string,
    /** Path of the final file. */
    private readonly final: string,
  ) {}

  /** Creates an empty file that only its owner can access. Throws Refusal if the folder is missing or not writable. */
  static async create(final: string): Promise<TemporaryFile> {
    const folder = dirname(final);
    const path = temporaryPathFor(final);
    try {
      await removeStale(folder);
      await createPrivateFile(path);
    } catch (error) {
      throw new Refusal(
        `The folder ${folder} cannot be written to (${messageOf(error)}). Create it, free up space on its disk, or give this user the ` +
          'permission; or name a file in another folder.',
      );
    }
    return new TemporaryFile(path, final);
  }

  /** Syncs the file to disk and gives it its final name. Throws Refusal if that exists and `overwrite` is not set. */
  async finish({ overwrite }: { readonly overwrite: boolean }): Promise<void> {
    try {
      await syncToDisk(this.path);
      if (overwrite) await rename(this.path, this.final);
      else await moveToNewName(this.path, this.final, ALREADY_EXISTS);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      throw new Refusal(
        `${this.path} was removed before it was complete, by another backup to this name or by hand. Try again.`,
      );
    }
    await syncToDisk(dirname(this.final));
  }

  /** Removes the file and its sidecars; does nothing after `finish`. */
  async remove(): Promise<void> {
    for (const suffix of ['', ...SIDECARS]) await rm(`${this.path}${suffix}`, { force: true });
  }
}

/** Why an existing file is not overwritten. */
export const ALREADY_EXISTS = 'already exists. Choose another file, or add --overwrite.';

/**
 * Renames a file without replacing another: unlike a rename, a link fails if the name exists. Throws Refusal with the name and the `reason`
 * then.
 */
export async function moveToNewName(path: string, name: string, reason: string): Promise<void> {
  try {
    await link(path, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw new Refusal(`${name} ${reason}`);
    // The file system has no hard links.
    await rename(path, name);
    return;
  }
  await rm(path);
}

/** Syncs a file, or a folder with its entries, to the disk. */
export async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function removeStale(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, pid] = STALE.exec(name) ?? [];
    if (pid !== undefined && !isRunning(Number(pid))) await rm(join(folder, name), { force: true });
  }
}

function isRunning(pid: number): boolean {
  // In a container, the killed process may have had the same id.
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

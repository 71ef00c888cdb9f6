import { randomUUID } from 'node:crypto';
import { link, open, readdir, rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { makePrivateFile } from '../sqlite/private-files.js';
import { DatabaseRefusal } from './refusal.js';

/** What SQLite may have beside a file. */
const SIDECARS = ['-journal', '-wal', '-shm'];
/** In the hidden names of files that this machine writes; processes of two containers may have the same number. */
const PART = `.part-${hostname().replaceAll(/[^\w-]/g, '_')}-`;
/** The digits are the process that writes it, and the random part is there for two machines of one name. */
const LEFT_OVER = new RegExp(`^\\..+\\${PART}(\\d+)-[\\da-f]{8}(?:${SIDECARS.join('|')})?$`);

/** A file that is written under a hidden name beside the one that it is to have. The next one in its folder removes what a killed process has left. */
export class PartFile {
  private constructor(
    readonly path: string,
    /** The file that it becomes. */
    private readonly final: string,
  ) {}

  /** Makes it, empty, for its owner alone. Throws DatabaseRefusal when the folder is missing or may not be written to. */
  static async beside(final: string): Promise<PartFile> {
    const folder = dirname(final);
    const path = join(folder, `.${basename(final)}${PART}${process.pid}-${randomUUID().slice(0, 8)}`);
    try {
      await removeLeftOvers(folder);
      await makePrivateFile(path);
    } catch (error) {
      throw inFolder(folder, error);
    }
    return new PartFile(path, final);
  }

  /**
   * Has it on the disk under its final name. With `overwrite` it takes the place of a file there; else it throws DatabaseRefusal, as when
   * it was removed.
   */
  async finish({ overwrite }: { readonly overwrite: boolean }): Promise<void> {
    try {
      await this.sync();
      if (overwrite) await rename(this.path, this.final);
      else await givenName(this.path, this.final, () => alreadyThere(this.final));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      throw new DatabaseRefusal(
        `${this.path} was removed before it was done, by another backup to this name or by hand. Try again.`,
      );
    }
    await synced(dirname(this.final));
  }

  /** Has its content on the disk. */
  sync(): Promise<void> {
    return synced(this.path);
  }

  /** Removes it and what SQLite has beside it; nothing is left, unless it has its final name. */
  async remove(): Promise<void> {
    for (const end of ['', ...SIDECARS]) await rm(`${this.path}${end}`, { force: true });
  }
}

/**
 * Gives a file a name that no other has: a link, unlike a rename, never takes the place of a file that came meanwhile. Throws what
 * `taken` makes then.
 */
export async function givenName(path: string, name: string, taken: () => DatabaseRefusal): Promise<void> {
  try {
    await link(path, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw taken();
    // A file system without links.
    await rename(path, name);
    return;
  }
  await rm(path);
}

/** Why a file that is there is not written over. */
export function alreadyThere(file: string): DatabaseRefusal {
  return new DatabaseRefusal(`${file} is there already. Name another file, or give --overwrite.`);
}

/** Writes a file, or the names in a folder, to the disk. */
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

function inFolder(folder: string, error: unknown): unknown {
  switch ((error as NodeJS.ErrnoException).code ?? '') {
    case 'ENOENT':
      return new DatabaseRefusal(`The folder ${folder} is not there. Make it, or name a file in another.`);
    case 'ENOTDIR':
      return new DatabaseRefusal(`${folder} is not a folder. Name a file in another.`);
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new DatabaseRefusal(
        `The folder ${folder} may not be written to (${(error as Error).message}). Give this user the permission, or name a file in another.`,
      );
    case 'ENOSPC':
      return new DatabaseRefusal(`The disk of ${folder} is full. Make room there, or name another disk.`);
    default:
      return error;
  }
}

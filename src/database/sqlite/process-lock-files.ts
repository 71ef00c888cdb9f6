import { randomUUID } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Refusal } from '../../core/refusal.js';
import { Connection } from './connection.js';
import { makePrivateFile, realFileOf } from './private-files.js';

/** Number of retries when another process removes a new lock file as a leftover before it is locked. */
const ATTEMPTS = 5;
const AT_ONCE = { busyTimeoutMs: 0 };

/**
 * Counts the processes that serve an SQLite file. Each creates a lock file beside it and holds SQLite's own lock
 * on it. The operating system releases that lock when the process ends in any way, so a lock file without a lock is left over, and the
 * next process that finds it removes it. This needs no clock and no writes, and works across containers that share the file.
 */
export class ProcessLockFiles {
  private own: OwnLockFile | undefined;

  private constructor(
    private readonly folder: string,
    private readonly prefix: string,
  ) {}

  /** The lock files beside a database file, which may be gone; for a link, those beside its target. Throws when its folder is missing. */
  static async of(file: string): Promise<ProcessLockFiles> {
    const real = await realFileOf(file);
    return new ProcessLockFiles(dirname(real), `${basename(real)}-process-`);
  }

  /**
   * Marks this process as one that serves the file, unless its lock file is still there. Rejects if it cannot be marked, and leaves
   * nothing behind then.
   */
  async keep(): Promise<void> {
    if (this.own && (await inodeOf(this.own.path)) === this.own.inode) return;
    await this.remove();
    for (let attempt = 1; !this.own; attempt += 1) {
      const path = join(this.folder, `${this.prefix}${process.pid}-${randomUUID().slice(0, 8)}`);
      this.own = await made(path).catch((error: unknown) => {
        if (attempt === ATTEMPTS) throw error;
        return undefined;
      });
    }
  }

  /** Removes the lock file of this process. */
  async remove(): Promise<void> {
    const { own } = this;
    this.own = undefined;
    if (!own) return;
    await rm(own.path, { force: true });
    await own.connection.close();
  }

  /** How many other processes serve the file; lock files of processes that have ended are `removed` or `left`. */
  async others(leftOver: 'removed' | 'left'): Promise<number> {
    let held = 0;
    for (const name of await readdir(this.folder)) {
      const path = join(this.folder, name);
      // This process's lock file is not opened: closing it would release the lock.
      if (name.startsWith(this.prefix) && path !== this.own?.path && (await isHeld(path, leftOver)))
        held += 1;
    }
    return held;
  }
}

/** Throws Refusal while a process serves the file: it has counts in memory, and would continue writing. `then` is what waits for its end. */
export async function refuseServed(file: string, then: 'copy' | 'restore'): Promise<void> {
  const serving = await (await ProcessLockFiles.of(file)).others('left');
  if (serving === 0) return;
  const who = serving === 1 ? 'A process serves' : `${serving} processes serve`;
  throw new Refusal(`${who} ${file}. Stop the service, then ${then}.`);
}

interface OwnLockFile {
  readonly path: string;
  readonly inode: bigint;
  readonly connection: Connection;
}

/** Creates a lock file and locks it. If it cannot be locked, or was removed before it was locked, nothing of it is left. */
async function made(path: string): Promise<OwnLockFile> {
  await makePrivateFile(path);
  try {
    const connection = await Connection.open(path, 'write', AT_ONCE);
    try {
      await lock(connection);
      return { path, inode: (await stat(path, { bigint: true })).ino, connection };
    } catch (error) {
      await connection.close();
      throw error;
    }
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/** The inode of a file; undefined if it does not exist. */
async function inodeOf(path: string): Promise<bigint | undefined> {
  return (await stat(path, { bigint: true }).catch(() => undefined))?.ino;
}

/**
 * Whether a process holds the lock file; one that is not held is `removed` or `left`. It is read, not locked: several processes that look
 * at the same time do not take each other for its holder.
 */
async function isHeld(path: string, leftOver: 'removed' | 'left'): Promise<boolean> {
  const connection = await Connection.open(path, 'read', AT_ONCE).catch(() => undefined);
  // It was removed since it was listed, or may not be opened by this user: it is not counted.
  if (!connection) return false;
  try {
    await connection.all('BEGIN');
    await connection.all('SELECT count(*) FROM sqlite_master');
    // A process that is just creating it cannot lock it now, and finds it gone then.
    if (leftOver === 'removed') await rm(path, { force: true });
    return false;
  } catch (error) {
    return (error as { code?: string }).code === 'SQLITE_BUSY';
  } finally {
    await connection.close();
  }
}

/** Locks the file without waiting; throws SQLITE_BUSY when another connection has locked it. */
async function lock(connection: Connection): Promise<void> {
  // Nothing is ever written. A journal file would take room on a disk that may be full, and stay after a crash.
  await connection.all('PRAGMA journal_mode = MEMORY');
  await connection.all('BEGIN EXCLUSIVE');
}

import { randomUUID } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import sqlite3 from 'sqlite3';
import { realFileOf } from './real-file.js';
import { makePrivateFile } from './private-files.js';

/** How often creating a lock file is tried again when another process removes it as left over before it is locked. */
const ATTEMPTS = 5;
/** After this time a lock file that is seen for the first time is checked again, in milliseconds. */
const SECOND_LOOK_MS = 100;

/**
 * Counts the processes that serve an SQLite file. Each creates a lock file beside it and holds SQLite's own lock
 * on it. The operating system releases that lock when the process ends in any way, so a lock file without a lock is left over, and the
 * next process that finds it removes it. This needs no clock and no writes, and works across containers that share the file.
 */
export class ProcessLockFiles {
  /** Lock files of other processes that were held at the last count. */
  private known = new Set<string>();
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
        if (attempt === ATTEMPTS || (error as DriverError).code !== 'SQLITE_BUSY') throw error;
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
    await closed(own.database);
  }

  /** How many other processes serve the file; lock files of processes that have ended are `removed` or `left`. */
  async others(leftOver: 'removed' | 'left'): Promise<number> {
    const names = await readdir(this.folder);
    const held = new Set<string>();
    for (const lockFile of names.filter((name) => name.startsWith(this.prefix))) {
      const path = join(this.folder, lockFile);
      // The own lock file is not opened: closing it would release the lock.
      if (path === this.own?.path || !(await isHeld(path, leftOver))) continue;
      // At first sight it may only be locked by another process that is about to remove it.
      if (!this.known.has(path)) await setTimeout(SECOND_LOOK_MS);
      if (this.known.has(path) || (await isHeld(path, leftOver))) held.add(path);
    }
    this.known = held;
    if (leftOver === 'removed') await this.removeHidden(names, held);
    return held.size;
  }

  /** Removes the hidden files that earlier versions created beside their lock files and left behind. */
  private async removeHidden(names: readonly string[], held: ReadonlySet<string>): Promise<void> {
    for (const name of names.filter((one) => one.startsWith(`.${this.prefix}`))) {
      const lockFile = name.slice(1).replace(/-journal$/, '');
      const path = join(this.folder, name);
      if (held.has(join(this.folder, lockFile))) continue;
      if (name.endsWith('-journal')) await rm(path, { force: true });
      else await isHeld(path, 'removed');
    }
  }
}

interface OwnLockFile {
  readonly path: string;
  readonly inode: bigint;
  readonly database: sqlite3.Database;
}

/** Creates a lock file and locks it. If it cannot be locked, or was removed before it was locked, nothing of it is left. */
async function made(path: string): Promise<OwnLockFile> {
  await makePrivateFile(path);
  const database = await opened(path, sqlite3.OPEN_READWRITE | sqlite3.OPEN_CREATE);
  const refusal = await lock(database);
  const inode = await inodeOf(path);
  if (!refusal && inode !== undefined) return { path, inode, database };
  await rm(path, { force: true });
  await closed(database);
  throw refusal ?? Object.assign(new Error(`${path} was removed`), { code: 'SQLITE_BUSY' });
}

/** The inode of a file; undefined if it does not exist. */
async function inodeOf(path: string): Promise<bigint | undefined> {
  return (await stat(path, { bigint: true }).catch(() => undefined))?.ino;
}

/** Whether a process holds the lock file; one that is not held is `removed` or `left`. */
async function isHeld(path: string, leftOver: 'removed' | 'left'): Promise<boolean> {
  const database = await opened(path, sqlite3.OPEN_READWRITE).catch(() => undefined);
  // It was removed since it was listed, or may not be opened by this user: it is not counted.
  if (!database) return false;
  const refusal = await lock(database);
  // Removed while it is locked: a process that is just creating it finds it gone as soon as it gets the lock.
  if (!refusal && leftOver === 'removed') await rm(path, { force: true });
  await closed(database);
  return refusal?.code === 'SQLITE_BUSY';
}

function opened(path: string, mode: number): Promise<sqlite3.Database> {
  return new Promise((resolve, reject) => {
    const database: sqlite3.Database = new sqlite3.Database(path, mode, (error) => {
      if (error) reject(error);
      else resolve(database);
    });
  });
}

/** Locks the file without waiting; returns the error if it cannot be locked. */
function lock(database: sqlite3.Database): Promise<DriverError | null> {
  database.configure('busyTimeout', 0);
  return new Promise((resolve) => {
    // Nothing is ever written. A journal file would take room on a disk that may be full, and stay after a crash.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE', resolve);
  });
}

type DriverError = Error & { readonly code?: string };

function closed(database: sqlite3.Database): Promise<void> {
  return new Promise((resolve) => {
    database.close(() => resolve());
  });
}

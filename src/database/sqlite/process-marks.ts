import { randomUUID } from 'node:crypto';
import { readdir, realpath, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import sqlite3 from 'sqlite3';

/** How often a mark is made anew where somebody takes it for a left-over one before it is locked. */
const ATTEMPTS = 5;
/** After this time a mark that is seen for the first time is looked at again, in milliseconds. */
const SECOND_LOOK_MS = 100;

/**
 * Which processes serve an SQLite file: each keeps an empty file beside it locked, by SQLite's own lock. The system lets go of
 * that when the process ends, however it ends, so that a mark without a lock is left over and is removed by whoever sees it.
 * No clock and no write is needed, and it holds across containers that share the file.
 */
export class ProcessMarks {
  /** Marks of others, as they were last seen. */
  private known = new Set<string>();
  private own: OwnMark | undefined;

  private constructor(
    private readonly folder: string,
    private readonly prefix: string,
  ) {}

  /** The marks beside a database file, which must be there; a link leads to those of the real file. */
  static async of(file: string): Promise<ProcessMarks> {
    const real = await realpath(file);
    return new ProcessMarks(dirname(real), `${basename(real)}-process-`);
  }

  /**
   * Marks this process as one that serves the file, where it is not marked yet or its mark was removed. Rejects where it cannot
   * be, leaving nothing behind.
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

  /** Removes the mark of this process. */
  async remove(): Promise<void> {
    const { own } = this;
    this.own = undefined;
    if (!own) return;
    await rm(own.path, { force: true });
    await closed(own.database);
  }

  /** How many processes serve the file beside this one; what ended processes left is removed, unless it is `left` as it is. */
  async others(leftOver: 'removed' | 'left'): Promise<number> {
    const names = await readdir(this.folder);
    const held = new Set<string>();
    for (const mark of names.filter((name) => name.startsWith(this.prefix))) {
      const path = join(this.folder, mark);
      // Closing our own file would let go of its lock.
      if (path === this.own?.path || !(await isHeld(path, leftOver))) continue;
      // Somebody else may just have been removing it.
      if (!this.known.has(path)) await setTimeout(SECOND_LOOK_MS);
      if (this.known.has(path) || (await isHeld(path, leftOver))) held.add(path);
    }
    this.known = held;
    if (leftOver === 'removed') await this.removeHidden(names, held);
    return held.size;
  }

  /** Removes the hidden files that former versions made beside their marks, and left there. */
  private async removeHidden(names: readonly string[], held: ReadonlySet<string>): Promise<void> {
    for (const name of names.filter((one) => one.startsWith(`.${this.prefix}`))) {
      const mark = name.slice(1).replace(/-journal$/, '');
      const path = join(this.folder, name);
      if (held.has(join(this.folder, mark))) continue;
      if (name.endsWith('-journal')) await rm(path, { force: true });
      else await isHeld(path, 'removed');
    }
  }
}

interface OwnMark {
  readonly path: string;
  readonly inode: bigint;
  readonly database: sqlite3.Database;
}

/** Makes a mark and locks it; where it cannot be locked, or was removed before it was, nothing is left of it. */
async function made(path: string): Promise<OwnMark> {
  const database = await opened(path, sqlite3.OPEN_READWRITE | sqlite3.OPEN_CREATE);
  const refusal = await lock(database);
  const inode = await inodeOf(path);
  if (!refusal && inode !== undefined) return { path, inode, database };
  await rm(path, { force: true });
  await closed(database);
  throw refusal ?? Object.assign(new Error(`${path} was removed`), { code: 'SQLITE_BUSY' });
}

/** The number of the file that is there; undefined where there is none. */
async function inodeOf(path: string): Promise<bigint | undefined> {
  return (await stat(path, { bigint: true }).catch(() => undefined))?.ino;
}

/** Whether a process holds the mark; one that nobody holds is removed, unless it is to be `left`. */
async function isHeld(path: string, leftOver: 'removed' | 'left'): Promise<boolean> {
  const database = await opened(path, sqlite3.OPEN_READWRITE).catch(() => undefined);
  // It was removed since it was listed, or another user keeps us from it: then nothing can be told.
  if (!database) return false;
  const refusal = await lock(database);
  // While it is locked: whoever is just making it then finds it gone as soon as the lock is theirs.
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

/** Locks the file, or answers why it cannot be, without waiting. */
function lock(database: sqlite3.Database): Promise<DriverError | null> {
  database.configure('busyTimeout', 0);
  return new Promise((resolve) => {
    // Nothing is ever written: a journal would take room on a disk that may be full, and outlive a crash.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE', resolve);
  });
}

type DriverError = Error & { readonly code?: string };

function closed(database: sqlite3.Database): Promise<void> {
  return new Promise((resolve) => {
    database.close(() => resolve());
  });
}

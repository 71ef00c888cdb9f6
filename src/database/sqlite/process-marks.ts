import { randomUUID } from 'node:crypto';
import { readdir, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import sqlite3 from 'sqlite3';

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
  private own: { readonly path: string; readonly database: sqlite3.Database } | undefined;

  private constructor(
    private readonly folder: string,
    private readonly prefix: string,
  ) {}

  /** The marks beside a database file, which must be there; a link leads to those of the real file. */
  static async of(file: string): Promise<ProcessMarks> {
    const real = await realpath(file);
    return new ProcessMarks(dirname(real), `${basename(real)}-process-`);
  }

  /** Marks this process as one that serves the file. */
  async set(): Promise<void> {
    const name = `${this.prefix}${process.pid}-${randomUUID().slice(0, 8)}`;
    const path = join(this.folder, name);
    // Whoever saw it under its name before it is locked would take it for a left-over one.
    const unlocked = join(this.folder, `.${name}`);
    const database = await opened(unlocked, sqlite3.OPEN_READWRITE | sqlite3.OPEN_CREATE);
    const refusal = await lock(database);
    if (refusal) throw refusal;
    await rename(unlocked, path);
    this.own = { path, database };
  }

  /** Removes the mark of this process. */
  async remove(): Promise<void> {
    const { own } = this;
    this.own = undefined;
    if (!own) return;
    await rm(own.path, { force: true });
    await closed(own.database);
  }

  /** How many processes serve the file beside this one. */
  async others(): Promise<number> {
    const marks = (await readdir(this.folder)).filter((name) => name.startsWith(this.prefix));
    const held = new Set<string>();
    for (const mark of marks) {
      const path = join(this.folder, mark);
      // Closing our own file would let go of its lock.
      if (path === this.own?.path || !(await isHeld(path))) continue;
      // Somebody else may just have been removing it.
      if (!this.known.has(path)) await setTimeout(SECOND_LOOK_MS);
      if (this.known.has(path) || (await isHeld(path))) held.add(path);
    }
    this.known = held;
    return held.size;
  }
}

/** Whether a process holds the mark; one that nobody holds is removed. */
async function isHeld(path: string): Promise<boolean> {
  const database = await opened(path, sqlite3.OPEN_READWRITE).catch(() => undefined);
  // It was removed since it was listed, or another user keeps us from it: then nothing can be told.
  if (!database) return false;
  const refusal = await lock(database);
  if (!refusal) await rm(path, { force: true });
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
    database.exec('BEGIN EXCLUSIVE', resolve);
  });
}

type DriverError = Error & { readonly code?: string };

function closed(database: sqlite3.Database): Promise<void> {
  return new Promise((resolve) => {
    database.close(() => resolve());
  });
}

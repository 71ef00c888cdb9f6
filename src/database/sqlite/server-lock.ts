import { constants } from 'node:fs';
import { access, chown, readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Refusal } from '../../core/refusal.js';
import { Connection } from './connection.js';
import { LOCK_FILE, makePrivateFile, realFileOf } from './private-files.js';
import { messageOf } from './troubles/sqlite-errors.js';

/** How long a start waits for the process before it to end, in milliseconds. */
const SERVE_WAIT_MS = 3_000;
/** How long others wait, in milliseconds: doctor reads the file for a moment. */
const COMMAND_WAIT_MS = 200;
const BUSY = 'SQLITE_BUSY';

/**
 * The lock by which one process alone serves an SQLite file: that of SQLite itself, because Node.js has none, on an empty file
 * `<file>-server` beside it. The operating system releases it when its process ends in any way. The file stays: of two processes, one
 * might have locked a file that is removed, and the other one its successor.
 */
export class ServerLock {
  /** A connection that nothing refers to is collected, and its lock with it. */
  private static readonly held = new Set<Connection>();

  private constructor(private readonly connection: Connection) {
    ServerLock.held.add(connection);
  }

  /** For a server. Throws Refusal if another process still has the lock after 3 s, or if it cannot be taken here. */
  static async toServe(file: string): Promise<ServerLock> {
    const remedy = 'stop it first, or set DATABASE_URL to PostgreSQL, which several processes can serve.';
    const lock = await ServerLock.acquire(file, SERVE_WAIT_MS, `Another process serves ${file}: ${remedy}`);
    for (const path of await locksOfEarlierBuilds(file)) await rm(path, { force: true });
    return lock;
  }

  /** So that no server starts during a restore. Throws Refusal while one runs. */
  static toRestore(file: string): Promise<ServerLock> {
    return ServerLock.acquire(
      file,
      COMMAND_WAIT_MS,
      `A process serves ${file}. Stop the service, then restore.`,
    );
  }

  /**
   * So that no server starts during a copy, which leaves nothing beside the file: undefined where none has served it, or can. Throws Refusal
   * while one runs.
   */
  static async toCopy(file: string): Promise<ServerLock | undefined> {
    const refusal = `A process serves ${file}. Stop the service, then copy.`;
    const exists = await access(await pathFor(file), constants.W_OK).then(
      () => true,
      () => false,
    );
    if (exists) return ServerLock.acquire(file, COMMAND_WAIT_MS, refusal);
    await refuseEarlierBuild(file, refusal);
    return undefined;
  }

  /** Whether a process serves a file. It is read, not locked, so that nobody is refused for it. */
  static async isTaken(file: string): Promise<boolean> {
    return isHeld(await pathFor(file));
  }

  private static async acquire(file: string, waitMs: number, refusal: string): Promise<ServerLock> {
    const path = await pathFor(file);
    let connection: Connection | undefined;
    try {
      // Only where it is missing: closing any descriptor of a file would drop the locks that this process has on it.
      await makePrivateFile(path);
      await copyOwner(file, path);
      connection = await Connection.open(path, 'write', { busyTimeoutMs: waitMs });
      // Nothing is ever written. A journal file would take room on a disk that may be full, and stay after a crash.
      await connection.all('PRAGMA journal_mode = MEMORY');
      await connection.all('BEGIN EXCLUSIVE');
      await refuseEarlierBuild(file, refusal);
      return new ServerLock(connection);
    } catch (error) {
      await connection?.close();
      if (error instanceof Refusal) throw error;
      if ((error as { code?: string }).code === BUSY) throw new Refusal(refusal, { cause: error });
      const problem = `${path}, by whose lock one process alone serves the database, cannot be used`;
      throw new Refusal(`${problem}: ${messageOf(error)}`, { cause: error });
    }
  }

  /** Gives the lock back. */
  release(): Promise<void> {
    ServerLock.held.delete(this.connection);
    return this.connection.close();
  }
}

/** The user of the service can open it, also where root has made it for a restore. */
async function copyOwner(database: string, path: string): Promise<void> {
  const { uid, gid } = await stat(database).catch(() => stat(dirname(database)));
  const created = await stat(path);
  if (created.uid !== uid || created.gid !== gid) await chown(path, uid, gid).catch(() => undefined);
}

async function pathFor(file: string): Promise<string> {
  return `${await realFileOf(file)}${LOCK_FILE}`;
}

async function refuseEarlierBuild(file: string, refusal: string): Promise<void> {
  for (const path of await locksOfEarlierBuilds(file)) if (await isHeld(path)) throw new Refusal(refusal);
}

/** Each process of an earlier build locked a separate file, `<file>-process-…`. */
async function locksOfEarlierBuilds(file: string): Promise<string[]> {
  const real = await realFileOf(file);
  const names = await readdir(dirname(real));
  return names
    .filter((name) => name.startsWith(`${basename(real)}-process-`))
    .map((name) => join(dirname(real), name));
}

/** Whether a process has locked a file; not one that is missing, or that this user may not open. */
async function isHeld(path: string): Promise<boolean> {
  const connection = await Connection.open(path, 'read', { busyTimeoutMs: 0 }).catch(() => undefined);
  if (!connection) return false;
  try {
    await connection.all('SELECT count(*) FROM sqlite_master');
    return false;
  } catch (error) {
    return (error as { code?: string }).code === BUSY;
  } finally {
    await connection.close();
  }
}

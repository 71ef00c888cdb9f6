import { constants } from 'node:fs';
import { access, chown, readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Refusal } from '../../core/refusal.js';
import { Connection } from './connection.js';
import { LOCK_FILE, createPrivateFile, realFileOf } from './private-files.js';
import { messageOf } from './availability/sqlite-errors.js';

/** How long a server waits for its predecessor to exit, in milliseconds. */
const SERVE_WAIT_MS = 3_000;
/** How long others wait, in milliseconds, because doctor opens the file briefly. */
const COMMAND_WAIT_MS = 200;
const BUSY = 'SQLITE_BUSY';

/**
 * The lock that ensures that only one process serves an SQLite file. Node.js has no file locks, so this uses SQLite's locks on the empty
 * file `<file>-server`. The operating system releases them when the process exits. The file is never removed, because two processes could
 * otherwise hold locks on the old and the new file.
 */
export class ServerLock {
  /** Keeps the connections from being garbage collected, which would release their locks. */
  private static readonly held = new Set<Connection>();

  private constructor(private readonly connection: Connection) {
    ServerLock.held.add(connection);
  }

  /** Locks the file for a server. Throws Refusal if another process still holds the lock after 3 s, or if locking fails. */
  static async toServe(file: string): Promise<ServerLock> {
    const remedy = 'stop it first, or set DATABASE_URL to PostgreSQL, which several processes can serve.';
    const lock = await ServerLock.acquire(file, SERVE_WAIT_MS, `Another process serves ${file}: ${remedy}`);
    for (const path of await locksOfEarlierBuilds(file)) await rm(path, { force: true });
    return lock;
  }

  /** Locks the file for a restore. Throws Refusal while a server runs. */
  static toRestore(file: string): Promise<ServerLock> {
    return ServerLock.acquire(file, COMMAND_WAIT_MS, servedText(file, 'restore'));
  }

  /**
   * Locks the file for a command that leaves no new files if it fails: undefined if the lock file does not exist or is not writable. Throws
   * Refusal while a server runs.
   */
  static async withExistingFile(file: string, command: 'copy' | 'restore'): Promise<ServerLock | undefined> {
    const refusal = servedText(file, command);
    const exists = await access(await pathFor(file), constants.W_OK).then(
      () => true,
      () => false,
    );
    if (exists) return ServerLock.acquire(file, COMMAND_WAIT_MS, refusal);
    await refuseEarlierBuild(file, refusal);
    return undefined;
  }

  /** Whether a process serves a file. The lock is only tested, not taken, so that no other process is refused. */
  static async isLocked(file: string): Promise<boolean> {
    return isHeld(await pathFor(file));
  }

  private static async acquire(file: string, waitMs: number, refusal: string): Promise<ServerLock> {
    const path = await pathFor(file);
    let connection: Connection | undefined;
    try {
      // Does not open an existing file, because closing any descriptor would drop this process's locks on it.
      await createPrivateFile(path);
      await copyOwner(file, path);
      connection = await Connection.open(path, 'write', { busyTimeoutMs: waitMs });
      // Nothing is written; a journal file would need space on a possibly full disk and outlive a crash.
      await connection.all('PRAGMA journal_mode = MEMORY');
      await connection.all('BEGIN EXCLUSIVE');
      await refuseEarlierBuild(file, refusal);
      return new ServerLock(connection);
    } catch (error) {
      await connection?.close();
      if (error instanceof Refusal) throw error;
      if ((error as { code?: string }).code === BUSY) throw new Refusal(refusal, { cause: error });
      const problem = `${path}, whose lock ensures that only one process serves the database, cannot be used`;
      throw new Refusal(`${problem}: ${messageOf(error)}`, { cause: error });
    }
  }

  release(): Promise<void> {
    ServerLock.held.delete(this.connection);
    return this.connection.close();
  }
}

function servedText(file: string, command: string): string {
  return `A process serves ${file}. Stop the service, then ${command}.`;
}

/** Lets the user of the service open a file that root created during a restore. */
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

/** In earlier builds, each process locked a separate file, `<file>-process-…`. */
async function locksOfEarlierBuilds(file: string): Promise<string[]> {
  const real = await realFileOf(file);
  const names = await readdir(dirname(real));
  return names
    .filter((name) => name.startsWith(`${basename(real)}-process-`))
    .map((name) => join(dirname(real), name));
}

/** Whether a process has locked a file; false if it is missing or this user may not open it. */
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

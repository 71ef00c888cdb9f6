import { open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { openDataSource } from '../data-source.js';
import { refuseIfNewer, schemaStatus } from '../schema.js';
import { createPrivateFolder, realFileOf } from '../sqlite/private-files.js';
import { ServerLock } from '../sqlite/server-lock.js';
import { messageOf } from '../sqlite/availability/sqlite-errors.js';
import { type VerifiedCopy, copyAndVerify } from './verified-copy.js';
import { TemporaryFile, syncToDisk } from './temporary-file.js';
import { DatabaseReplacement } from './database-replacement.js';
import { Refusal } from '../../core/refusal.js';

const NAME_ANOTHER = 'Name another backup.';
/** The first bytes of every SQLite file. */
const FILE_FORMAT = 'SQLite format 3\0';

/** Options of a restore. */
export interface RestoreOptions {
  /** The backup. It is only read. */
  readonly file: string;
  /** The file of the database, which may be missing or damaged. */
  readonly database: string;
  /** Time for the name of the replaced database, in ms since the Unix epoch. */
  readonly now: number;
  /** Aborts the restore before it changes the database. */
  readonly signal: AbortSignal;
}

/** Result of a restore. */
export interface RestoreResult extends VerifiedCopy {
  /** Path of the replaced database; null if there was none. */
  readonly replaced: string | null;
  /** Migrations that the backup lacks. */
  readonly pending: readonly string[];
}

/**
 * Replaces the database with a backup and keeps the old file. Throws Refusal with the reason, and then the database is unchanged. If it is
 * killed, either the old or the new file has the name of the database.
 */
export async function restore(options: RestoreOptions): Promise<RestoreResult> {
  await checkBackupFile(options);
  const database = await realFileInFolder(options.database);
  const lock = await ServerLock.withExistingFile(database, 'restore');
  try {
    return await restoreTo(database, options, lock !== undefined);
  } finally {
    await lock?.release();
  }
}

async function restoreTo(
  database: string,
  options: RestoreOptions,
  isLocked: boolean,
): Promise<RestoreResult> {
  const replaced = await DatabaseReplacement.lock(database);
  try {
    const part = await TemporaryFile.create(database);
    try {
      const { file, signal, now } = options;
      const copied = await copyAndVerify({ from: file, to: part.path, signal, remedy: NAME_ANOTHER });
      const pending = await pendingOf(file, part.path);
      await replaced.copyOwnerTo(part.path);
      await syncToDisk(part.path);
      // Not earlier, because the lock file stays, and a refused restore leaves no new file.
      const lock = isLocked ? undefined : await ServerLock.toRestore(database);
      try {
        return { ...copied, pending, replaced: (await replaced.replaceWith(part.path, now)) ?? null };
      } finally {
        await lock?.release();
      }
    } finally {
      await part.remove();
    }
  } finally {
    await replaced.release();
  }
}

/** The path of the database. If its folder is missing, such as after the loss of a disk, it is created as at startup. */
async function realFileInFolder(database: string): Promise<string> {
  try {
    await createPrivateFolder(dirname(database));
    return await realFileOf(database);
  } catch (error) {
    throw new Refusal(`The folder of ${database} cannot be created: ${messageOf(error)}`);
  }
}

/** Whether a file begins like an SQLite file. True for a file without read permission, whose error the copy reports. */
async function isOfSqlite(file: string): Promise<boolean> {
  const opened = await open(file).catch(() => undefined);
  try {
    const { buffer } = (await opened?.read(Buffer.alloc(FILE_FORMAT.length))) ?? {};
    return buffer === undefined || buffer.toString('latin1') === FILE_FORMAT;
  } finally {
    await opened?.close();
  }
}

async function checkBackupFile({ file, database }: RestoreOptions): Promise<void> {
  const backup = await stat(file).catch(() => undefined);
  if (!backup) throw new Refusal(`${file} does not exist. Name an existing backup.`);
  if (!backup.isFile()) throw new Refusal(`${file} is not a file. Name a backup file.`);
  if (backup.size === 0) throw new Refusal(`${file} is empty. ${NAME_ANOTHER}`);
  if (!(await isOfSqlite(file))) throw new Refusal(`${file} is not an SQLite database. ${NAME_ANOTHER}`);
  const existing = await stat(database).catch(() => undefined);
  if (!existing) return;
  if (existing.ino === backup.ino && existing.dev === backup.dev)
    throw new Refusal(`${file} is the database itself. Name a backup of it.`);
}

/** The migrations that the copy of a backup lacks. Throws Refusal unless this build runs on its schema. */
async function pendingOf(backup: string, copy: string): Promise<readonly string[]> {
  try {
    const dataSource = await openDataSource({ databaseUrl: `sqlite:${copy}` }, { journal: 'as it is' });
    try {
      const status = await schemaStatus(dataSource);
      if (status.applied.length === 0)
        throw new Error(`${backup} is not a backup of this service. Name another backup.`);
      refuseIfNewer(dataSource, status);
      return status.pending;
    } finally {
      await dataSource.destroy();
    }
  } catch (error) {
    throw new Refusal(messageOf(error).replaceAll(copy, backup));
  }
}

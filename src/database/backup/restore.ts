import { stat } from 'node:fs/promises';
import { openDataSource } from '../data-source.js';
import { type SchemaStatus, contractionsOf, schemaStatus } from '../schema.js';
import { ProcessLockFiles } from '../sqlite/process-lock-files.js';
import { realFileOf } from '../sqlite/real-file.js';
import { messageOf } from '../sqlite/troubles/sqlite-errors.js';
import { BackupRefusal } from './backup-refusal.js';
import { PartFile } from './part-file.js';
import { ReplacedStore } from './replaced-store.js';
import { type BackupProgress, type CopiedStore, copyVerified } from './verified-copy.js';

/** A backup that is to become the database. */
export interface RestoreOrder {
  /** The backup. It is only read. */
  readonly file: string;
  /** The file of the database, which may be missing or damaged. */
  readonly database: string;
  /** The time in ms since the Unix epoch: the replaced database is named by it. */
  readonly now: number;
  /** Stops it while the database is still as it was. */
  readonly signal: AbortSignal;
  readonly tell: (progress: BackupProgress) => void;
}

/** What was restored. */
export interface Restored extends CopiedStore {
  /** Where the database that was there is kept now; null when there was none. */
  readonly replaced: string | null;
  /** Migrations that the backup lacks. */
  readonly pending: readonly string[];
}

/**
 * Puts a backup into the place of the database, which is kept beside it. Throws BackupRefusal that says why not; then the database is
 * as it was. Whenever it is killed, one of both has the name of the database.
 */
export async function restore(order: RestoreOrder): Promise<Restored> {
  const database = await realFileOf(order.database).catch(() => {
    throw new BackupRefusal(`The folder of ${order.database} is not there. Make it, then restore.`);
  });
  await refuseUnlessOther(order, database);
  await refuseServed(order.database);
  const replaced = await ReplacedStore.take(database);
  try {
    const part = await PartFile.beside(database);
    try {
      const { file, signal, tell, now } = order;
      const copied = await copyVerified({ from: file, to: part.path, signal, tell });
      const pending = await pendingOf(file, part.path);
      await replaced.giveOwner(part.path);
      await part.sync();
      // While the file could not be locked, a service may have come.
      await refuseServed(order.database);
      return { ...copied, pending, replaced: (await replaced.replaceBy(part.path, now)) ?? null };
    } finally {
      await part.remove();
    }
  } finally {
    await replaced.release();
  }
}

async function refuseUnlessOther({ file }: RestoreOrder, database: string): Promise<void> {
  const backup = await stat(file).catch(() => undefined);
  if (!backup) throw new BackupRefusal(`${file} is not there. Name the backup.`);
  if (!backup.isFile()) throw new BackupRefusal(`${file} is no file. Name the backup.`);
  if (backup.size === 0) throw new BackupRefusal(`${file} is empty. Name another backup.`);
  const there = await stat(database).catch(() => undefined);
  if (!there) return;
  if (there.ino === backup.ino && there.dev === backup.dev)
    throw new BackupRefusal(`${file} is the database itself. Name the backup.`);
}

/** It has counts in memory, and would go on writing into the file that was replaced. */
async function refuseServed(database: string): Promise<void> {
  const serving = await (await ProcessLockFiles.of(database)).others('left');
  if (serving > 0)
    throw new BackupRefusal(
      `${serving === 1 ? 'A process serves' : `${serving} processes serve`} ${database}. Stop the service, then restore.`,
    );
}

/** The migrations that the copy of a backup lacks. Throws BackupRefusal unless this build runs on its schema. */
async function pendingOf(backup: string, copy: string): Promise<readonly string[]> {
  const status = await statusOf(backup, copy);
  if (status.applied.length === 0)
    throw new BackupRefusal(`${backup} is not a backup of this service. Name another.`);
  const newer = contractionsOf(status);
  if (newer.length > 0)
    throw new BackupRefusal(
      `${backup} was made of a schema of a newer version of the service (${newer.join(', ')}), or with a module that is gone. ` +
        'Restore it with that version, or put the module back.',
    );
  return status.pending;
}

async function statusOf(backup: string, copy: string): Promise<SchemaStatus> {
  const opening = { journal: 'as it is' } as const;
  try {
    const dataSource = await openDataSource({ databaseUrl: `sqlite:${copy}` }, opening);
    try {
      return await schemaStatus(dataSource);
    } finally {
      await dataSource.destroy();
    }
  } catch (error) {
    throw new BackupRefusal(messageOf(error).replaceAll(copy, backup));
  }
}

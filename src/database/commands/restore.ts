import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { openDataSource } from '../data-source.js';
import { refuseIfNewer, schemaStatus } from '../schema.js';
import { makePrivateFolder, realFileOf } from '../sqlite/private-files.js';
import { ServerLock } from '../sqlite/server-lock.js';
import { messageOf } from '../sqlite/troubles/sqlite-errors.js';
import { type CopiedStore, copyChecked } from './checked-copy.js';
import { PartFile, synced } from './part-file.js';
import { ReplacedStore } from './replaced-store.js';
import { Refusal } from '../../core/refusal.js';

/** Options of a restore. */
export interface RestoreOrder {
  /** The backup. It is only read. */
  readonly file: string;
  /** The file of the database, which may be missing or damaged. */
  readonly database: string;
  /** The time in ms since the Unix epoch: it is in the name of the replaced database. */
  readonly now: number;
  /** Stops it while the database is still as it was. */
  readonly signal: AbortSignal;
}

/** Result of a restore. */
export interface Restored extends CopiedStore {
  /** Where the database that was there is kept now; null without one. */
  readonly replaced: string | null;
  /** Migrations that the backup lacks. */
  readonly pending: readonly string[];
}

/**
 * Puts a backup into the place of the database, which is kept beside it. Throws Refusal that says why not; then the database is
 * as it was. Whenever it is killed, one of both has the name of the database.
 */
export async function restore(order: RestoreOrder): Promise<Restored> {
  await refuseUnlessOther(order);
  const database = await realFileInFolder(order.database);
  const lock = await ServerLock.toRestore(database);
  try {
    return await restoreLocked(order, database);
  } finally {
    await lock.release();
  }
}

async function restoreLocked(order: RestoreOrder, database: string): Promise<Restored> {
  const replaced = await ReplacedStore.take(database);
  try {
    const part = await PartFile.beside(database);
    try {
      const { file, signal, now } = order;
      const copied = await copyChecked({ from: file, to: part.path, signal });
      const pending = await pendingOf(file, part.path);
      await replaced.giveOwner(part.path);
      await synced(part.path);
      return { ...copied, pending, replaced: (await replaced.replaceBy(part.path, now)) ?? null };
    } finally {
      await part.remove();
    }
  } finally {
    await replaced.release();
  }
}

/** The path for the database. After the loss of a disk its folder is missing, and is created as at a start. */
async function realFileInFolder(database: string): Promise<string> {
  try {
    await makePrivateFolder(dirname(database));
    return await realFileOf(database);
  } catch (error) {
    throw new Refusal(`The folder of ${database} cannot be created: ${messageOf(error)}`);
  }
}

async function refuseUnlessOther({ file, database }: RestoreOrder): Promise<void> {
  const backup = await stat(file).catch(() => undefined);
  if (!backup) throw new Refusal(`${file} does not exist. Name the backup.`);
  if (!backup.isFile()) throw new Refusal(`${file} is not a file. Name the backup.`);
  if (backup.size === 0) throw new Refusal(`${file} is empty. Name another backup.`);
  const there = await stat(database).catch(() => undefined);
  if (!there) return;
  if (there.ino === backup.ino && there.dev === backup.dev)
    throw new Refusal(`${file} is the database itself. Name the backup.`);
}

/** The migrations that the copy of a backup lacks. Throws Refusal unless this build runs on its schema. */
async function pendingOf(backup: string, copy: string): Promise<readonly string[]> {
  try {
    const dataSource = await openDataSource({ databaseUrl: `sqlite:${copy}` }, { journal: 'as it is' });
    try {
      const status = await schemaStatus(dataSource);
      if (status.applied.length === 0)
        throw new Error(`${backup} is not a backup of this service. Name another.`);
      refuseIfNewer(dataSource, status);
      return status.pending;
    } finally {
      await dataSource.destroy();
    }
  } catch (error) {
    throw new Refusal(messageOf(error).replaceAll(copy, backup));
  }
}

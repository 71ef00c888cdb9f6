import { constants } from 'node:fs';
import { access, lstat, readlink, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { Connection } from '../connection.js';
import { createPrivateFile, createPrivateFolder } from '../private-files.js';
import {
  NAME_ANOTHER,
  UnusableDatabase,
  codeOf,
  damaged,
  shortList,
  withFileErrors,
  withPermission,
} from './sqlite-errors.js';

/** Time limit of the check for damage at startup, in milliseconds. Large files are checked in part. */
const CHECK_LIMIT_MS = 500;
/** How much is written to test whether the file is writable, in bytes. */
const PROBE_BYTES = 65_536;

/**
 * Throws UnusableDatabase if the service cannot store its data in the file. Creates a missing file, empty, and its folder, but changes
 * nothing else. `migrationsTable` identifies a database of this service; `firstTable` is the only table if the first start was killed, or
 * has just begun in another process.
 */
export async function checkUsable(file: string, migrationsTable: string, firstTable: string): Promise<void> {
  const size = await checkFile(file);
  // An empty file is a new database: `touch` creates one, and so does SQLite before its first commit.
  if (size === 0) return;
  await withConnection(file, async (connection) => {
    await refuseForeign(file, migrationsTable, firstTable, connection);
    await refuseDamaged(file, connection);
  });
}

/**
 * Throws UnusableDatabase if a file cannot be opened and written. Creates a missing file, empty, and its folder. Returns its size in bytes.
 */
export function checkFile(file: string): Promise<number> {
  return withFileErrors(file, () => checkAccess(file));
}

/** Throws UnusableDatabase if the write lock of the file cannot be acquired. */
export async function checkWriteLock(file: string): Promise<void> {
  await withConnection(file, async (connection) => {
    await connection.all('BEGIN IMMEDIATE');
    await connection.all('ROLLBACK');
  });
}

/** Throws UnusableDatabase if the file is not writable. The test write is rolled back. */
export async function checkWrites(file: string): Promise<void> {
  await withConnection(file, async (connection) => {
    // With a cache this small, SQLite writes to the disk before the commit.
    await connection.all('PRAGMA cache_size = 1');
    await connection.all('BEGIN IMMEDIATE');
    await connection.all('CREATE TABLE room_for_writes (bytes blob)');
    await connection.all(`INSERT INTO room_for_writes VALUES (zeroblob(${PROBE_BYTES}))`);
    await connection.all('ROLLBACK');
  });
}

/** Throws UnusableDatabase if a missing file could not be created; creates nothing. Returns the nearest existing folder. */
export async function checkCreatable(file: string): Promise<string> {
  return withFileErrors(file, async () => {
    const folder = await existingParent(file);
    const what = `${file} cannot be used: its folder ${folder} is not writable`;
    await withPermissionErrors(what, () => access(folder, constants.W_OK | constants.X_OK));
    return folder;
  });
}

/** The existing folder in which the file, or its missing folders, would be created. */
async function existingParent(file: string): Promise<string> {
  const target = await readlink(file).catch(() => undefined);
  if (target === undefined) return nearestFolder(file, dirname(file));
  // SQLite creates the target of a link, but not its folder.
  const folder = dirname(isAbsolute(target) ? target : join(dirname(file), target));
  if (!(await stat(folder).catch(() => undefined))) throw brokenLink(file, file);
  return folder;
}

/** The folder, or its nearest existing parent. */
async function nearestFolder(file: string, folder: string): Promise<string> {
  const existing = await lstat(folder).catch(absent);
  if (!existing) return nearestFolder(file, dirname(folder));
  const target = await stat(folder).catch(() => undefined);
  if (!target) throw brokenLink(file, folder);
  if (!target.isDirectory())
    throw new UnusableDatabase(`${file} cannot be used: ${folder} is not a folder. ${NAME_ANOTHER}.`);
  return folder;
}

function brokenLink(file: string, link: string): UnusableDatabase {
  return new UnusableDatabase(
    `${file} cannot be used: ${link} is a broken link. Create its target, or set DATABASE_URL to another file.`,
  );
}

/** The file's size in bytes; 0 if it does not exist yet. */
async function checkAccess(file: string): Promise<number> {
  const existing = await stat(file).catch(absent);
  if (existing?.isDirectory()) throw new UnusableDatabase(`${file} is a folder. ${NAME_ANOTHER}.`);
  // A device or pipe stores nothing, and the permissions of /dev/null must not change.
  if (existing && !existing.isFile())
    throw new UnusableDatabase(`${file} is a device, a pipe or a socket, not a file. ${NAME_ANOTHER}.`);
  if (existing) {
    await withPermissionErrors(`${file} is not readable`, () => access(file, constants.R_OK));
    await withPermissionErrors(`${file} is not writable`, () => access(file, constants.W_OK));
  }
  const folder = dirname(existing ? await realpath(file) : file);
  if (!existing) {
    await existingParent(file);
    const refused = `${file} cannot be used: its folder ${folder} cannot be created`;
    await withPermissionErrors(refused, () => createPrivateFolder(folder));
  }
  const what = `${file} cannot be used: its folder ${dirname(file)} is not writable, and SQLite creates files next to the database`;
  await withPermissionErrors(what, () => access(folder, constants.W_OK));
  // SQLite would create it with permissions according to the umask.
  if (!existing) await withPermissionErrors(`${file} cannot be created`, () => createPrivateFile(file));
  return existing?.size ?? 0;
}

/** Throws UnusableDatabase with `refused` if the file system denies this user something. */
async function withPermissionErrors(refused: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    // ENOENT: file systems such as /proc do not allow new files.
    if (!['EACCES', 'EPERM', 'EROFS', 'ENOENT'].includes(code)) throw error;
    throw new UnusableDatabase(withPermission(`${refused} (${code})`), { cause: error });
  }
}

/** Undefined if the file is missing or its folder is a file; throws any other error. */
function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
  throw error;
}

/** Throws if another program created the database, because the tables of both would be mixed. */
async function refuseForeign(
  file: string,
  migrationsTable: string,
  firstTable: string,
  connection: Connection,
): Promise<void> {
  const tables = await connection.tables();
  const columns = await connection.texts(`SELECT name FROM pragma_table_info('${migrationsTable}')`);
  const isOurs = ['timestamp', 'name'].every((column) => columns.includes(column));
  if (isOurs || tables.every((name) => name === firstTable)) return;
  throw new UnusableDatabase(
    `${file} is the database of another program (tables ${shortList(tables)}). ${NAME_ANOTHER}.`,
  );
}

async function refuseDamaged(file: string, connection: Connection): Promise<void> {
  const limit = setTimeout(() => connection.interrupt(), CHECK_LIMIT_MS);
  try {
    const [found = ''] = await connection.texts('PRAGMA quick_check(1)');
    if (found !== 'ok') throw new UnusableDatabase(damaged(file, found));
  } catch (error) {
    if (codeOf(error) !== 'SQLITE_INTERRUPT') throw error;
  } finally {
    clearTimeout(limit);
  }
}

/** A connection for these checks. It is writable, because after a crash SQLite must repair the file before it can read it. */
async function withConnection<T>(file: string, work: (connection: Connection) => Promise<T>): Promise<T> {
  return withFileErrors(file, async () => {
    const connection = await Connection.open(file, 'write');
    try {
      return await work(connection);
    } finally {
      await connection.close();
    }
  });
}

import { accessSync, constants } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type sqlite3 from 'sqlite3';
import { LogBeside } from '../sqlite/log-beside.js';
import { openForReading } from '../sqlite/read-connection.js';
import { codeOf, messageOf, named } from '../sqlite/troubles/sqlite-errors.js';
import { BackupRefusal } from './backup-refusal.js';
import { copyPages } from './page-copy.js';
import { closed, openForWriting, rowsOf, textsOf } from './statements.js';

/** How long a lock of another process is waited for, in milliseconds. */
const LOCK_WAIT_MS = 4_000;
const MEBIBYTE = 2 ** 20;
/** How many faults are named at most. */
const MOST_NAMED = 5;

/** How far a copy is. */
export interface BackupProgress {
  readonly phase: 'Copying' | 'Checking';
  /** Pages, or tables, that are done, and all of them. */
  readonly done: number;
  readonly of: number;
  readonly unit: 'pages' | 'tables';
}

/** A copy that is to be made. */
export interface CopyOrder {
  /** The database file that is read; it may be served and written to meanwhile. */
  readonly from: string;
  /** An empty file. */
  readonly to: string;
  /** Stops it. */
  readonly signal: AbortSignal;
  readonly tell: (progress: BackupProgress) => void;
}

/** What a copy has. */
export interface CopiedStore {
  /** Its size in bytes. */
  readonly bytes: number;
  /** How many rows its tables have together. */
  readonly rows: number;
  readonly tables: readonly { readonly name: string; readonly rows: number }[];
}

/**
 * Copies a database file as it is at one moment, and looks at every page and row of the copy. The copy is one file without a
 * write-ahead log. Throws BackupRefusal when the copy is not sound, or not the same as what was read.
 */
export async function copyVerified({ from, to, signal, tell }: CopyOrder): Promise<CopiedStore> {
  const log = await LogBeside.of(from);
  try {
    const source = await openForReading(from, LOCK_WAIT_MS).catch((error: unknown) => {
      throw ofSource(error, from);
    });
    try {
      try {
        await rowsOf(source, 'BEGIN');
        // The transaction begins with the first read.
        await rowsOf(source, 'SELECT count(*) FROM sqlite_master');
      } catch (error) {
        throw ofSource(error, from);
      }
      await refuseWithoutRoom(source, to);
      await copyPages(source, to, (done, of) => {
        if (signal.aborted) throw interrupted();
        tell({ phase: 'Copying', done, of, unit: 'pages' });
      }).catch((error: unknown) => {
        throw ofCopy(error, from, to);
      });
      return await verified(source, { from, to, signal, tell });
    } finally {
      await closed(source);
    }
  } finally {
    await log.restore();
  }
}

/** Before anything is written: a disk that the copy fills is full for the service, too. */
async function refuseWithoutRoom(source: sqlite3.Database, to: string): Promise<void> {
  const [pages = 0] = (await textsOf(source, 'PRAGMA page_count')).map(Number);
  const [size = 0] = (await textsOf(source, 'PRAGMA page_size')).map(Number);
  const { bavail, bsize } = await statfs(dirname(to));
  const [needed, free] = [pages * size + MEBIBYTE, bavail * bsize];
  if (free < needed)
    throw new BackupRefusal(
      `The copy needs ${inMebibytes(needed)} MiB, and the disk of ${dirname(to)} has ${inMebibytes(free)} MiB free. Make room there, ` +
        'or name another disk.',
    );
}

/** Reads the whole copy. The source is still as it was when the copy began. */
async function verified(source: sqlite3.Database, order: CopyOrder): Promise<CopiedStore> {
  const { from, to, signal, tell } = order;
  const copy = await openForWriting(to, LOCK_WAIT_MS).catch((error: unknown) => {
    throw ofCopy(error, from, to);
  });
  const interrupt = (): void => copy.interrupt();
  signal.addEventListener('abort', interrupt);
  try {
    // The copy is one file: whoever moves it has no other to think of.
    await rowsOf(copy, 'PRAGMA journal_mode = DELETE');
    const names = await tablesOf(copy);
    tell({ phase: 'Checking', done: 0, of: names.length, unit: 'tables' });
    const faults = (await textsOf(copy, `PRAGMA integrity_check(${MOST_NAMED})`)).filter(
      (line) => line !== 'ok',
    );
    if (faults.length > 0) throw new BackupRefusal(`${from} is damaged (${faults.join('; ')}). ${OTHERS}`);
    await refuseLostReferences(from, copy);
    if ((await schemaOf(source)) !== (await schemaOf(copy))) throw differing(from, 'their tables');
    const tables: { name: string; rows: number }[] = [];
    for (const name of names) {
      const rows = await countOf(copy, name);
      if (rows !== (await countOf(source, name))) throw differing(from, `the rows of ${name}`);
      tables.push({ name, rows });
      if (signal.aborted) throw interrupted();
      tell({ phase: 'Checking', done: tables.length, of: names.length, unit: 'tables' });
    }
    const rows = tables.reduce((sum, table) => sum + table.rows, 0);
    return { bytes: (await stat(to)).size, rows, tables };
  } catch (error) {
    throw signal.aborted ? interrupted() : ofCopy(error, from, to);
  } finally {
    signal.removeEventListener('abort', interrupt);
    await closed(copy);
  }
}

async function refuseLostReferences(from: string, copy: sqlite3.Database): Promise<void> {
  const lost = await rowsOf(copy, 'PRAGMA foreign_key_check');
  if (lost.length === 0) return;
  const tables = [...new Set(lost.map(({ table }) => String(table)))].join(', ');
  throw new BackupRefusal(
    `${from} has ${lost.length} rows in ${tables} that refer to rows that are not there. ` +
      `"sqlite3 ${from} 'PRAGMA foreign_key_check'" names them; correct them, then try again.`,
  );
}

function tablesOf(connection: sqlite3.Database): Promise<string[]> {
  return textsOf(
    connection,
    `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name`,
  );
}

async function schemaOf(connection: sqlite3.Database): Promise<string> {
  return (
    await textsOf(connection, `SELECT type || ' ' || name || ' ' || ifnull(sql, '') FROM sqlite_master`)
  ).join('\n');
}

async function countOf(connection: sqlite3.Database, table: string): Promise<number> {
  const [count] = await textsOf(connection, `SELECT count(*) FROM "${table.replaceAll('"', '""')}"`);
  return Number(count);
}

/** An error of the copy names the disk or the file that has it. */
function ofCopy(error: unknown, from: string, to: string): unknown {
  if (error instanceof BackupRefusal) return error;
  switch (codeOf(error) ?? '') {
    case 'SQLITE_FULL':
    case 'ENOSPC':
      return new BackupRefusal(`The disk of ${dirname(to)} is full. Make room there, or name another disk.`);
    case 'SQLITE_NOTADB':
    case 'SQLITE_CORRUPT':
      return ofSource(error, from);
    default:
      return new BackupRefusal(
        `${from} cannot be copied to ${dirname(to)}: ${messageOf(error)}. Look after both disks, then try again.`,
      );
  }
}

function ofSource(error: unknown, from: string): unknown {
  const code = codeOf(error);
  if (code === 'SQLITE_CANTOPEN' && mayBeRead(from))
    return new BackupRefusal(
      `${from} cannot be opened (${messageOf(error)}): SQLite makes its log beside it to read it. Copy it, with its -wal if it has one, to a ` +
        'folder that this user may write to, and name that copy.',
    );
  if (code !== 'SQLITE_NOTADB' && code !== 'SQLITE_CORRUPT') return named(from, error);
  return new BackupRefusal(`${from} is damaged, or no SQLite database (${messageOf(error)}). ${OTHERS}`);
}

function mayBeRead(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

const OTHERS = 'Take another backup, or save what can be read with "sqlite3 <file> .recover".';

function differing(from: string, what: string): BackupRefusal {
  return new BackupRefusal(
    `The copy of ${from} is not what was read: ${what} differ. Look after the disks, then try again.`,
  );
}

function interrupted(): BackupRefusal {
  return new BackupRefusal('Interrupted. Nothing was changed, and nothing is left of the copy.');
}

function inMebibytes(bytes: number): string {
  return Math.ceil(bytes / MEBIBYTE).toLocaleString('en-US');
}

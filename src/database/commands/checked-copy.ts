import { accessSync, constants } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { quoted } from '../dialect.js';
import { Connection } from '../sqlite/connection.js';
import { readUntouched } from '../sqlite/read-untouched.js';
import { codeOf, messageOf, named } from '../sqlite/troubles/sqlite-errors.js';
import { DatabaseRefusal } from './refusal.js';

const MEBIBYTE = 2 ** 20;
/** How many faults are named at most. */
const MOST_NAMED = 5;

/** A copy that is to be made. */
export interface CopyOrder {
  /** The database file that is read; it may be served and written to meanwhile. */
  readonly from: string;
  /** An empty file. */
  readonly to: string;
  /** Stops it. */
  readonly signal: AbortSignal;
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
 * Copies what is committed in a database file at one moment, and checks every page and row of the copy, which is one file without a
 * write-ahead log. Throws DatabaseRefusal when the copy is not sound.
 */
export async function copyChecked({ from, to, signal }: CopyOrder): Promise<CopiedStore> {
  try {
    await readUntouched(from, async (source) => {
      await source.all('SELECT count(*) FROM sqlite_master').catch((error: unknown) => {
        throw ofSource(error, from);
      });
      await refuseWithoutRoom(source, to);
      await stoppable(source, signal, () => source.all('VACUUM INTO ?', [to]));
    });
    const copy = await Connection.open(to, 'read');
    try {
      return await stoppable(copy, signal, () => check(copy, from, to));
    } finally {
      await copy.close();
    }
  } catch (error) {
    throw ofCopy(error, from, to);
  }
}

/** Ends the statement that runs when the signal comes. */
async function stoppable<T>(connection: Connection, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const interrupt = (): void => connection.interrupt();
  signal.addEventListener('abort', interrupt);
  try {
    signal.throwIfAborted();
    return await work();
  } catch (error) {
    throw signal.aborted
      ? new DatabaseRefusal('Interrupted. Nothing was changed, and nothing is left of the copy.')
      : error;
  } finally {
    signal.removeEventListener('abort', interrupt);
  }
}

/** Before anything is written: a disk that the copy fills is full for the service, too. */
async function refuseWithoutRoom(source: Connection, to: string): Promise<void> {
  const [pages = 0] = (await source.texts('PRAGMA page_count')).map(Number);
  const [size = 0] = (await source.texts('PRAGMA page_size')).map(Number);
  const { bavail, bsize } = await statfs(dirname(to));
  const [needed, free] = [pages * size + MEBIBYTE, bavail * bsize];
  if (free < needed)
    throw new DatabaseRefusal(
      `The copy needs ${inMebibytes(needed)} MiB, and the disk of ${dirname(to)} has ${inMebibytes(free)} MiB free. Make room there, ` +
        'or name another disk.',
    );
}

async function check(copy: Connection, from: string, to: string): Promise<CopiedStore> {
  const found = await copy.texts(`PRAGMA integrity_check(${MOST_NAMED})`);
  const faults = found.filter((line) => line !== 'ok');
  if (faults.length > 0) throw new DatabaseRefusal(`${from} is damaged (${faults.join('; ')}). ${OTHERS}`);
  await refuseLostReferences(from, copy);
  const names = await copy.texts(
    `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name`,
  );
  const tables: { name: string; rows: number }[] = [];
  for (const name of names)
    tables.push({ name, rows: Number((await copy.texts(`SELECT count(*) FROM ${quoted(name)}`))[0]) });
  return { bytes: (await stat(to)).size, rows: tables.reduce((sum, { rows }) => sum + rows, 0), tables };
}

async function refuseLostReferences(from: string, copy: Connection): Promise<void> {
  const lost = await copy.all('PRAGMA foreign_key_check');
  if (lost.length === 0) return;
  const tables = [...new Set(lost.map(({ table }) => String(table)))].join(', ');
  throw new DatabaseRefusal(
    `${from} has ${lost.length} rows in ${tables} that refer to rows that are not there. ` +
      `"sqlite3 ${from} 'PRAGMA foreign_key_check'" names them; correct them, then try again.`,
  );
}

/** An error of the copy names the disk or the file that has it. */
function ofCopy(error: unknown, from: string, to: string): unknown {
  if (error instanceof DatabaseRefusal) return error;
  switch (codeOf(error) ?? '') {
    case 'SQLITE_FULL':
    case 'ENOSPC':
      return new DatabaseRefusal(
        `The disk of ${dirname(to)} is full. Make room there, or name another disk.`,
      );
    case 'SQLITE_NOTADB':
    case 'SQLITE_CORRUPT':
      return ofSource(error, from);
    default:
      return new DatabaseRefusal(
        `${from} cannot be copied to ${dirname(to)}: ${messageOf(error)}. Look after both disks, then try again.`,
      );
  }
}

function ofSource(error: unknown, from: string): unknown {
  const code = codeOf(error);
  if (code === 'SQLITE_CANTOPEN' && mayBeRead(from))
    return new DatabaseRefusal(
      `${from} cannot be opened (${messageOf(error)}): SQLite makes its log beside it to read it. Copy it, with its -wal if it has one, to a ` +
        'folder that this user may write to, and name that copy.',
    );
  if (code !== 'SQLITE_NOTADB' && code !== 'SQLITE_CORRUPT') return named(from, error);
  return new DatabaseRefusal(`${from} is damaged, or no SQLite database (${messageOf(error)}). ${OTHERS}`);
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

function inMebibytes(bytes: number): string {
  return Math.ceil(bytes / MEBIBYTE).toLocaleString('en-US');
}

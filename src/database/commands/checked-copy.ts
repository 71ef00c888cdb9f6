import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { quoted } from '../dialect.js';
import { Connection } from '../sqlite/connection.js';
import { readUntouched } from '../sqlite/read-untouched.js';
import { codeOf, damaged, freeBytesBeside, messageOf, named } from '../sqlite/troubles/sqlite-errors.js';
import { Refusal } from '../../core/refusal.js';

const MEBIBYTE = 2 ** 20;
/** How many faults are named at most. */
const MOST_NAMED = 5;

/** Options of a copy. */
export interface CopyOrder {
  /** The database file that is read; it may be served and written to in the meantime. */
  readonly from: string;
  /** An empty file. */
  readonly to: string;
  /** Stops it. */
  readonly signal: AbortSignal;
}

/** Size of a copy. */
export interface CopiedStore {
  /** Its size in bytes. */
  readonly bytes: number;
  /** How many rows its tables have together. */
  readonly rows: number;
  readonly tables: readonly { readonly name: string; readonly rows: number }[];
}

/**
 * Copies what is committed in a database file at one moment, and checks every page and row of the copy, which is one file without a
 * write-ahead log. Throws Refusal when it cannot be made, or is not sound.
 */
export async function copyChecked({ from, to, signal }: CopyOrder): Promise<CopiedStore> {
  try {
    await readUntouched(from, async (source) => {
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
    throw error instanceof Refusal ? error : new Refusal(reasonOf(error, from, dirname(to)));
  }
}

/** Names the disk or the file that has the error. */
function reasonOf(error: unknown, from: string, folder: string): string {
  const said = messageOf(error);
  switch (codeOf(error) ?? '') {
    case 'SQLITE_FULL':
    case 'ENOSPC':
      return messageOf(named(folder, error));
    case 'SQLITE_CANTOPEN':
      return (
        `${from} cannot be opened (${said}): SQLite makes its log beside it to read it. Copy it, with its -wal if it has one, to a ` +
        'folder that this user may write to, and name that copy.'
      );
    case 'SQLITE_IOERR':
      return `${from} cannot be copied to ${folder}: ${said}. Check both disks, then try again.`;
    default:
      return messageOf(named(from, error));
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
    throw signal.aborted ? new Refusal('Interrupted. Nothing was changed, and the copy was removed.') : error;
  } finally {
    signal.removeEventListener('abort', interrupt);
  }
}

/** Before anything is written: a disk that the copy fills is full for the service, too. */
async function refuseWithoutRoom(source: Connection, to: string): Promise<void> {
  const [pages = 0] = (await source.texts('PRAGMA page_count')).map(Number);
  const [size = 0] = (await source.texts('PRAGMA page_size')).map(Number);
  const [needed, free] = [pages * size + MEBIBYTE, freeBytesBeside(to)].map((bytes) =>
    Math.ceil(bytes / MEBIBYTE),
  ) as [number, number];
  if (free < needed)
    throw new Refusal(
      `The copy needs ${needed} MiB, and the disk of ${dirname(to)} has ${free} MiB free. Free space there, or name another disk.`,
    );
}

async function check(copy: Connection, from: string, to: string): Promise<CopiedStore> {
  const found = await copy.texts(`PRAGMA integrity_check(${MOST_NAMED})`);
  if (found.join() !== 'ok') throw new Refusal(damaged(from, found.join('; ')));
  const lost = await copy.texts('PRAGMA foreign_key_check');
  if (lost.length > 0)
    throw new Refusal(
      `${from} has ${lost.length} rows in ${[...new Set(lost)].join(', ')} that refer to rows that do not exist. ` +
        `"sqlite3 ${from} 'PRAGMA foreign_key_check'" names them; correct them, then try again.`,
    );
  const tables: { name: string; rows: number }[] = [];
  for (const name of await copy.tables())
    tables.push({ name, rows: Number((await copy.texts(`SELECT count(*) FROM ${quoted(name)}`))[0]) });
  return { bytes: (await stat(to)).size, rows: tables.reduce((sum, { rows }) => sum + rows, 0), tables };
}

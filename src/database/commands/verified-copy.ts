import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { quoted } from '../dialect.js';
import { Connection } from '../sqlite/connection.js';
import { withReadOnlyConnection } from '../sqlite/read-only-file.js';
import {
  codeOf,
  damaged,
  freeDiskBytes,
  messageOf,
  fileError,
} from '../sqlite/availability/sqlite-errors.js';
import { Refusal } from '../../core/refusal.js';

const MEBIBYTE = 2 ** 20;
/** Maximum number of problems in a message. */
const MAX_NAMED = 5;

/** Options of a copy. */
export interface CopyOptions {
  /** The database file to read, which may be in use. */
  readonly from: string;
  /** An empty file. */
  readonly to: string;
  readonly signal: AbortSignal;
  /** The remedy for a damaged file; by default, that for a database. */
  readonly remedy?: string;
}

/** The result of a copy. */
export interface VerifiedCopy {
  readonly bytes: number;
  readonly rows: number;
  readonly tables: readonly { readonly name: string; readonly rows: number }[];
}

/**
 * Copies a consistent snapshot of a database file into a single file without a write-ahead log, and checks every page and row of the copy.
 * Throws Refusal if the copy cannot be created or is damaged.
 */
export async function copyAndVerify({ from, to, signal, remedy }: CopyOptions): Promise<VerifiedCopy> {
  try {
    await withReadOnlyConnection(from, async (source) => {
      await checkFreeSpace(source, to);
      await abortable(source, signal, () => source.all('VACUUM INTO ?', [to]));
    });
    const copy = await Connection.open(to, 'read');
    try {
      return await abortable(copy, signal, () => check(copy, from, to, remedy));
    } finally {
      await copy.close();
    }
  } catch (error) {
    throw error instanceof Refusal ? error : new Refusal(reasonOf(error, from, dirname(to), remedy));
  }
}

function reasonOf(error: unknown, from: string, folder: string, remedy?: string): string {
  const message = messageOf(error);
  switch (codeOf(error) ?? '') {
    case 'SQLITE_FULL':
    case 'ENOSPC':
      return messageOf(fileError(folder, error));
    case 'SQLITE_CANTOPEN':
      return (
        `${from} cannot be opened (${message}), because SQLite must create its log next to it. Copy it, with its -wal file if there is one, to a ` +
        'folder that this user may write to, and use that copy.'
      );
    case 'SQLITE_IOERR':
      return `${from} cannot be copied to ${folder}: ${message}. Check both disks, then try again.`;
    case 'SQLITE_CORRUPT':
      return damaged(from, message, remedy);
    default:
      return messageOf(fileError(from, error));
  }
}

/** Interrupts the running statement on abort. */
async function abortable<T>(connection: Connection, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
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

/** A copy that filled the disk would also stop the service. */
async function checkFreeSpace(source: Connection, to: string): Promise<void> {
  const [pages = 0] = (await source.texts('PRAGMA page_count')).map(Number);
  const [size = 0] = (await source.texts('PRAGMA page_size')).map(Number);
  const [needed, free] = [pages * size + MEBIBYTE, freeDiskBytes(to)].map((bytes) =>
    Math.ceil(bytes / MEBIBYTE),
  ) as [number, number];
  if (free < needed)
    throw new Refusal(
      `The copy needs ${needed} MiB, and the disk of ${dirname(to)} has ${free} MiB free. Free up space on it, or choose another disk.`,
    );
}

async function check(copy: Connection, from: string, to: string, remedy?: string): Promise<VerifiedCopy> {
  const found = await copy.texts(`PRAGMA integrity_check(${MAX_NAMED})`);
  if (found.join() !== 'ok') throw new Refusal(damaged(from, found.join('; '), remedy));
  const orphaned = await copy.texts('PRAGMA foreign_key_check');
  if (orphaned.length > 0)
    throw new Refusal(
      `${from} has ${orphaned.length} rows in ${[...new Set(orphaned)].join(', ')} that refer to rows that do not exist. ` +
        `"sqlite3 ${from} 'PRAGMA foreign_key_check'" lists them. Correct them, then try again.`,
    );
  const tables: { name: string; rows: number }[] = [];
  for (const name of await copy.tables())
    tables.push({ name, rows: Number((await copy.texts(`SELECT count(*) FROM ${quoted(name)}`))[0]) });
  return { bytes: (await stat(to)).size, rows: tables.reduce((sum, { rows }) => sum + rows, 0), tables };
}

import { existsSync, realpathSync, type StatsFs, statfsSync } from 'node:fs';
import { dirname } from 'node:path';

/** SQLite's code of an error that TypeORM has wrapped; undefined for other errors. */
export function driverCodeOf(error: unknown): string | undefined {
  return (error as { driverError?: { code?: string } }).driverError?.code;
}

/** The remedy if the file belongs to another program. */
export const NAME_ANOTHER = 'Set DATABASE_URL to another file';
/** Maximum number of another program's tables in a message. */
const MAX_NAMED = 3;
const BACKUP = 'replace it with a backup by "petstore db restore <backup>"';

/** A state of the database that can end without a change to the service. */
export interface State {
  /** The message for clients. */
  readonly refusal: string;
  /** The message for logs and commands, and the remedy. */
  readonly problem: string;
  readonly remedy: string;
}

/** The message for clients if the database cannot be written to. */
export const NOT_WRITTEN = 'the database cannot be written to';
/** The state of a file that is locked by another process. */
export const LOCKED: State = {
  refusal: 'the database is busy',
  problem: 'it is locked by another process, or by a long write',
  remedy: 'End the process that holds the lock ("fuser -v" with the file shows it)',
};
const FULL: State = { refusal: NOT_WRITTEN, problem: 'the disk is full', remedy: 'Free up space on it' };
/** States by the error code of SQLite or the file system. */
export const STATES: Readonly<Record<string, State>> = {
  SQLITE_BUSY: LOCKED,
  SQLITE_LOCKED: LOCKED,
  SQLITE_FULL: FULL,
  ENOSPC: FULL,
  SQLITE_READONLY: {
    refusal: NOT_WRITTEN,
    problem: 'it is read-only',
    remedy: 'Give this user write permission',
  },
  SQLITE_CANTOPEN: {
    refusal: 'the database cannot be opened',
    problem: 'it cannot be opened',
    remedy: 'Give this user permission for the file and its folder, or let it open more files',
  },
  SQLITE_IOERR: {
    refusal: 'the database cannot be read or written',
    problem: 'the disk is failing',
    remedy: 'Check its disk',
  },
};

/** The database cannot be used in its current state. The message is one line that names the file and says what to do. */
export class UnusableDatabase extends Error {}

/** Runs work on a file, if given. Errors of SQLite or the file system become UnusableDatabase. */
export async function withFileErrors<T>(file: string | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw file === undefined ? error : fileError(file, error);
  }
}

/** Converts an error of SQLite or the file system to UnusableDatabase; any other error is returned unchanged. */
export function fileError(file: string, error: unknown): unknown {
  if (error instanceof UnusableDatabase) return error;
  const code = codeOf(error);
  const line = lineOf(file, code && refinedCode(file, code), error);
  return line === undefined ? error : new UnusableDatabase(line, { cause: error });
}

/** SQLite's code, or SQLITE_FULL for the SQLITE_IOERR that SQLite returns if the disk has no room for its `-shm` file. */
export function refinedCode(file: string, code: string): string {
  return code === 'SQLITE_IOERR' && isDiskFull(file) ? 'SQLITE_FULL' : code;
}

/** Whether the disk of a file is full; false if unknown. */
function isDiskFull(file: string): boolean {
  try {
    return freeDiskBytes(file) < MIN_FREE_BYTES;
  } catch {
    return false;
  }
}

/** Adds to a message that the service's user needs a permission. */
export function withPermission(what: string): string {
  return `${what}. Give this user permission, or set DATABASE_URL to another file.`;
}

/** The message for a file in which SQLite found damage, with the remedy; by default, that for a database. */
export function damaged(
  file: string,
  found: string,
  remedy = `Stop the processes that use it, then ${BACKUP}, or save the readable data with "sqlite3 ${file} .recover".`,
): string {
  return `${file} is damaged (${found.replaceAll(/\s+/g, ' ')}). ${remedy}`;
}

function lineOf(file: string, code = '', error: unknown): string | undefined {
  const message = messageOf(error);
  switch (code) {
    case 'SQLITE_NOTADB':
      return `${file} is not an SQLite database, or its header is corrupted. ${NAME_ANOTHER}, or ${BACKUP}.`;
    case 'SQLITE_CORRUPT':
      return damaged(file, message);
    case 'ENOTDIR':
    case 'EEXIST':
      return `${file} cannot be used: ${dirname(file)} is not a folder. ${NAME_ANOTHER}.`;
    case 'EACCES':
    case 'EPERM':
      return withPermission(`${file} is not readable (${code})`);
    default: {
      const state = STATES[code];
      return (
        state && `${file} cannot be used: ${state.problem} (${message}). ${state.remedy}, then try again.`
      );
    }
  }
}

/** The code of SQLite or the file system in an error, even if it was wrapped several times. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = driverCodeOf(error) ?? (error as { code?: unknown }).code;
  return typeof code === 'string' && /^(?:SQLITE_|E[A-Z])/.test(code) ? code : codeOf(error.cause);
}

/** A disk with less free space, in bytes, counts as full, because the next writes would fill it. */
export const MIN_FREE_BYTES = 1_048_576;

/** Free space on the disk of a file, or of a link's target, in bytes; the file may be missing. Throws if it cannot be determined. */
export function freeDiskBytes(file: string): number {
  const { bavail, bsize } = diskOf(file);
  return bavail * bsize;
}

/** Size of that disk, in bytes. */
export function diskSizeBytes(file: string): number {
  const { blocks, bsize } = diskOf(file);
  return blocks * bsize;
}

function diskOf(file: string): StatsFs {
  return statfsSync(dirname(existsSync(file) ? realpathSync(file) : file));
}

/** The first few of another program's tables. */
export function shortList(tables: readonly string[]): string {
  return `${tables.slice(0, MAX_NAMED).join(', ')}${tables.length > MAX_NAMED ? ' …' : ''}`;
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

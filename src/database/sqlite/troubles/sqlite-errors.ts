import { existsSync, realpathSync, type StatsFs, statfsSync } from 'node:fs';
import { dirname } from 'node:path';

/** SQLite's code of an error that TypeORM has wrapped; undefined for other errors. */
export function driverCodeOf(error: unknown): string | undefined {
  return (error as { driverError?: { code?: string } }).driverError?.code;
}

/** The remedy when the file belongs to another program. */
export const NAME_ANOTHER = 'Set DATABASE_URL to another file';
/** How many tables of another program are named at most. */
const MAX_NAMED = 3;
const BACKUP = 'replace it with a backup by "petstore db restore <backup>"';

/** A state of the database that passes without a change of the service. */
export interface State {
  /** The messages for a client. */
  readonly refusal: string;
  /** The message for the log and for commands, and the remedy. */
  readonly trouble: string;
  readonly remedy: string;
}

/** The message for a client when nothing can be written. */
export const NOT_WRITTEN = 'the database cannot be written to';
/** The state of a file that another process has locked. */
export const LOCKED: State = {
  refusal: 'the database is busy',
  trouble: 'it is locked by another process, or by a long write',
  remedy: 'End the process that holds the lock ("fuser -v" with the file shows it)',
};
const FULL: State = { refusal: NOT_WRITTEN, trouble: 'the disk is full', remedy: 'Free space on it' };
/** By SQLite's code, or that of the file system. */
export const STATES: Readonly<Record<string, State>> = {
  SQLITE_BUSY: LOCKED,
  SQLITE_LOCKED: LOCKED,
  SQLITE_FULL: FULL,
  ENOSPC: FULL,
  SQLITE_READONLY: {
    refusal: NOT_WRITTEN,
    trouble: 'it is read-only',
    remedy: 'Give this user write permission',
  },
  SQLITE_CANTOPEN: {
    refusal: 'the database cannot be opened',
    trouble: 'it cannot be opened',
    remedy: 'Give this user permission for the file and its folder, or let it open more files',
  },
  SQLITE_IOERR: {
    refusal: 'the database cannot be read or written',
    trouble: 'the disk fails',
    remedy: 'Check its disk',
  },
};

/** The database cannot be used in its current state; the message is one line that names the file and says what to do. */
export class UnusableDatabase extends Error {}

/** Runs work on the file, if there is one; errors of SQLite or of the file system become UnusableDatabase. */
export async function withFileErrors<T>(file: string | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw file === undefined ? error : fileError(file, error);
  }
}

/** An UnusableDatabase for an error of SQLite or of the file system; any other error as it is. */
export function fileError(file: string, error: unknown): unknown {
  if (error instanceof UnusableDatabase) return error;
  const code = codeOf(error);
  const line = lineOf(file, code && refinedCode(file, code), error);
  return line === undefined ? error : new UnusableDatabase(line, { cause: error });
}

/** SQLite's code; SQLITE_FULL instead of the SQLITE_IOERR that SQLite returns when the disk has no room for its `-shm` file. */
export function refinedCode(file: string, code: string): string {
  return code === 'SQLITE_IOERR' && isDiskFull(file) ? 'SQLITE_FULL' : code;
}

/** Whether the disk of a file is full; false if that cannot be found out. */
function isDiskFull(file: string): boolean {
  try {
    return freeDiskBytes(file) < MIN_FREE_BYTES;
  } catch {
    return false;
  }
}

/** Adds to the reason that the user who runs the service needs a permission. */
export function withPermission(what: string): string {
  return `${what}. Give this user permission, or set DATABASE_URL to another file.`;
}

/** The message for a file in which SQLite found damage. */
export function damaged(file: string, found: string): string {
  const details = found.replaceAll(/\s+/g, ' ');
  return `${file} is damaged (${details}). Stop what uses it, then ${BACKUP}, or save what can be read with "sqlite3 ${file} .recover".`;
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
      return withPermission(`${file} may not be read (${code})`);
    default: {
      const state = STATES[code];
      return (
        state && `${file} cannot be used: ${state.trouble} (${message}). ${state.remedy}, then try again.`
      );
    }
  }
}

/** SQLite's or the file system's code of an error, even if the error was wrapped several times. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = driverCodeOf(error) ?? (error as { code?: unknown }).code;
  return typeof code === 'string' && /^(?:SQLITE_|E[A-Z])/.test(code) ? code : codeOf(error.cause);
}

/** A disk with less free room than this counts as full, in bytes: the next writes would fill it. */
export const MIN_FREE_BYTES = 1_048_576;

/** Free room on the disk of a file, or of what a link leads to, in bytes; the file need not exist. Throws where that cannot be found out. */
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

/** The first tables of another program. */
export function shortList(tables: readonly string[]): string {
  return `${tables.slice(0, MAX_NAMED).join(', ')}${tables.length > MAX_NAMED ? ' …' : ''}`;
}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

import { existsSync, realpathSync, statfsSync } from 'node:fs';
import { realpath, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ApiError } from '../../../errors/api-error.js';
import { HTTP_ERRORS } from '../../../errors/http.errors.js';

/** SQLite's code of an error that TypeORM has wrapped; undefined when it is none of SQLite. */
export function driverCodeOf(error: unknown): string | undefined {
  return (error as { driverError?: { code?: string } }).driverError?.code;
}

/** The refusal while the database cannot do what is asked of it; `cause` is logged unless it was told, and never sent. */
export function unavailable(reason: string, cause: unknown, isTold = false): ApiError {
  return new ApiError(HTTP_ERRORS.service_unavailable, {
    params: { reason },
    headers: { 'Retry-After': '1' },
    cause,
    isTold,
  });
}

/** What to do where the file is not ours. */
export const NAME_ANOTHER = 'Name another file with DATABASE_URL';
const BACKUP = 'put a backup in its place (and remove the -wal and -shm files beside it)';

/** The database cannot be used as it stands; the message is one line that names the file and says what to do. */
export class UnusableDatabase extends Error {}

/** Runs work on the file; what SQLite or the file system says of it becomes UnusableDatabase. */
export async function naming<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw named(file, error);
  }
}

/** UnusableDatabase where the error is what SQLite or the file system says of the file; else the error as it is. */
export function named(file: string, error: unknown): unknown {
  if (error instanceof UnusableDatabase) return error;
  const code = codeOf(error);
  const line = lineOf(file, code && truerCode(file, code), error);
  return line === undefined ? error : new UnusableDatabase(line, { cause: error });
}

/** SQLite's code, or SQLITE_FULL where SQLite takes a full disk for a failing one: it does for its shared memory (`-shm`). */
export function truerCode(file: string, code: string): string {
  return code === 'SQLITE_IOERR' && isDiskFull(file) ? 'SQLITE_FULL' : code;
}

/** Whether the disk of a file is full; false where that cannot be found out. Does not wait: the caller cannot. */
function isDiskFull(file: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(existsSync(file) ? realpathSync(file) : file));
    return bavail * bsize < LEAST_FREE_BYTES;
  } catch {
    return false;
  }
}

/** Why the file is refused, and that whoever runs the service needs a permission. */
export function withPermission(what: string): string {
  return `${what}. Give the user that runs this the permission, or name another file with DATABASE_URL.`;
}

/** The line of a file in which SQLite found something wrong. */
export function damaged(file: string, found: string): string {
  const told = found.replaceAll(/\s+/g, ' ');
  return `${file} is damaged (${told}). Stop what uses it, then ${BACKUP}, or save what can be read with "sqlite3 ${file} .recover".`;
}

function lineOf(file: string, code: string | undefined, error: unknown): string | undefined {
  const reason = error instanceof Error ? error.message : String(error);
  switch (code ?? '') {
    case 'SQLITE_BUSY':
    case 'SQLITE_LOCKED':
      return `${file} is locked by another process. End that process ("fuser -v ${file}" shows it) or wait for it, then try again.`;
    case 'SQLITE_NOTADB':
      return `${file} is not an SQLite database, or its beginning is damaged. ${NAME_ANOTHER}, or ${BACKUP}.`;
    case 'SQLITE_CORRUPT':
      return damaged(file, reason);
    case 'SQLITE_READONLY':
      return withPermission(`${file} may not be written (${reason})`);
    case 'SQLITE_CANTOPEN':
      return withPermission(`${file} cannot be opened (${reason})`);
    case 'SQLITE_FULL':
    case 'ENOSPC':
      return `${file} cannot be written: the disk is full. Make room on it, then try again.`;
    case 'SQLITE_IOERR':
      return `${file} cannot be read or written (${reason}). Look after the disk that it is on, then try again.`;
    case 'ENOTDIR':
    case 'EEXIST':
      return `${file} cannot be used: ${dirname(file)} is not a folder. ${NAME_ANOTHER}.`;
    case 'EACCES':
    case 'EPERM':
      return withPermission(`${file} may not be read (${code})`);
    default:
      return undefined;
  }
}

/** SQLite's or the file system's code of an error, however it was wrapped. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = driverCodeOf(error) ?? (error as { code?: unknown }).code;
  return typeof code === 'string' && /^(?:SQLITE_|E[A-Z])/.test(code) ? code : codeOf(error.cause);
}

/** With less free room than this a disk is full, in bytes: what fits would fill it at once. */
export const LEAST_FREE_BYTES = 1_048_576;

/** Free room on the disk of a file, which need not be there, in bytes. */
export async function freeBytesBeside(file: string): Promise<number> {
  // A link leads to the disk that matters.
  const { bavail, bsize } = await statfs(dirname(await realpath(file).catch(() => file)));
  return bavail * bsize;
}

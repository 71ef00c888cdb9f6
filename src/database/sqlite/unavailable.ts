import { ApiError } from '../../errors/api-error.js';
import { HTTP_ERRORS } from '../../errors/http.errors.js';
import type { WriteTrouble } from '../write-trouble.js';

/** What SQLite says of a state that passes without a change of the service, by its code, and what a client is told. */
const PASSING = new Map([
  ['SQLITE_BUSY', 'the database is busy'],
  ['SQLITE_LOCKED', 'the database is busy'],
  ['SQLITE_FULL', 'the database cannot be written to'],
  ['SQLITE_READONLY', 'the database cannot be written to'],
  ['SQLITE_CANTOPEN', 'the database cannot be opened'],
  ['SQLITE_IOERR', 'the database cannot be read or written'],
]);

/**
 * Turns an error of SQLite into service_unavailable when it is a passing state, not a defect; `code` is SQLite's. `trouble` is
 * told of what concerns all writes.
 */
export function refusalIfUnavailable(
  error: unknown,
  code: string | undefined,
  trouble?: WriteTrouble,
): unknown {
  const reason = PASSING.get(code ?? '');
  if (reason === undefined) return error;
  return unavailable(reason, error, trouble?.note(code, error));
}

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

import { ApiError } from '../../errors/api-error.js';
import { HTTP_ERRORS } from '../../errors/http.errors.js';

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
    isLogged: isTold,
  });
}

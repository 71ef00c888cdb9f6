import { QueryFailedError } from 'typeorm';
import { ApiError } from '../errors/api-error.js';
import { HTTP_ERRORS } from '../errors/http.errors.js';
import { mapError } from '../errors/map-error.js';

const FAILED = /UNIQUE constraint failed: (.+)$/;

/**
 * The columns whose values a row would have shared with another, such as `['toys.name']`; undefined for any other error. For an
 * index over expressions it is the index: `["index 'toys_by_name'"]`.
 */
export function uniqueViolation(error: unknown): readonly string[] | undefined {
  if (!(error instanceof QueryFailedError)) return undefined;
  const { code, message } = error.driverError as { readonly code?: unknown; readonly message: string };
  return code === 'SQLITE_CONSTRAINT' ? FAILED.exec(message)?.[1]?.split(', ') : undefined;
}

/** Whether a row would have referred to one that is not there, or one that is referred to would have gone. */
export function isForeignKeyViolation(error: unknown): boolean {
  if (!(error instanceof QueryFailedError)) return false;
  const { code, message } = error.driverError as { readonly code?: unknown; readonly message: string };
  return code === 'SQLITE_CONSTRAINT' && message.includes('FOREIGN KEY constraint failed');
}

/** Only the database can tell for certain what is taken and what is there, so a feature need not look before it writes. */
mapError(QueryFailedError, (error) => {
  if (uniqueViolation(error)) return new ApiError(HTTP_ERRORS.already_exists, { cause: error });
  return isForeignKeyViolation(error)
    ? new ApiError(HTTP_ERRORS.reference_conflict, { cause: error })
    : undefined;
});

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

/** Only the database can tell for certain that a value is taken, so a feature need not look before it writes. */
mapError(QueryFailedError, (error) =>
  uniqueViolation(error) ? new ApiError(HTTP_ERRORS.already_exists, { cause: error }) : undefined,
);

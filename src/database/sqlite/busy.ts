import { ApiError } from '../../errors/api-error.js';
import { HTTP_ERRORS } from '../../errors/http.errors.js';

/** Another process holding the file locked is a passing state, not a defect; `code` is SQLite's. */
export function refusalIfBusy(error: unknown, code: string | undefined): unknown {
  if (code !== 'SQLITE_BUSY' && code !== 'SQLITE_LOCKED') return error;
  return new ApiError(HTTP_ERRORS.service_unavailable, {
    params: { reason: 'the database is busy' },
    headers: { 'Retry-After': '1' },
    cause: error,
  });
}

import { ApiError } from '../core/errors/api-error.js';
import { HTTP_ERRORS } from '../core/errors/http.errors.js';

/** The error while the database cannot serve a request. `cause` is never sent; it is logged unless `isLogged`. */
export function unavailable(reason: string, cause: unknown, isLogged = false): ApiError {
  return new ApiError(HTTP_ERRORS.service_unavailable, {
    params: { reason },
    headers: { 'Retry-After': '1' },
    cause,
    isLogged,
  });
}

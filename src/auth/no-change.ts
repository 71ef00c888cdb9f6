import { ApiError } from '../errors/api-error.js';
import { HTTP_ERRORS } from '../errors/http.errors.js';

/** Throws validation_failed when none of the fields that can be changed is named: somebody meant to change one. */
export function refuseNoChange<T extends object>(changes: T, fields: readonly (keyof T & string)[]): void {
  if (fields.some((field) => changes[field] !== undefined)) return;
  const message = `Name at least one change: ${fields.join(', ')}.`;
  throw new ApiError(HTTP_ERRORS.validation_failed, { details: [{ field: '', code: 'required', message }] });
}

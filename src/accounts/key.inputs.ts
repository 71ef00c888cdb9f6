import { ApiError } from '../errors/api-error.js';
import { HTTP_ERRORS } from '../errors/http.errors.js';

/** A key to issue. */
export interface NewKey {
  readonly clientId: string;
  /** Default: the scopes granted by default. */
  readonly scopes?: readonly string[];
  readonly label?: string | null;
  /** Lifetime from now in milliseconds; without it the key does not expire. */
  readonly expires?: number;
}

/** What can be changed of a key. */
export interface KeyChanges {
  /** Null removes the label. */
  readonly label?: string | null;
  /** Its remaining lifetime in milliseconds; it can only become shorter. */
  readonly expires?: number;
}

/** How a key is rotated. */
export interface Rotation {
  /** How long the old key still works, in milliseconds; at most until its own expiry. */
  readonly grace: number;
  /** Lifetime of the new key in milliseconds; default: the lifetime that the old one was issued with. */
  readonly expires?: number;
}

/** `force` carries a change out even when it ends the last key with a protected scope. */
export interface Forcible {
  readonly force?: boolean;
}

/** Throws validation_failed when none of the changeable fields is given: an empty change is a mistake of the caller. */
export function requireChange<T extends object>(changes: T, fields: readonly (keyof T & string)[]): void {
  if (fields.some((field) => changes[field] !== undefined)) return;
  const message = `Name at least one change: ${fields.join(', ')}.`;
  throw new ApiError(HTTP_ERRORS.validation_failed, { details: [{ field: '', code: 'required', message }] });
}

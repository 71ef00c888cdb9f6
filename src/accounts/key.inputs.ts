import { ApiError } from '../errors/api-error.js';
import { HTTP_ERRORS } from '../errors/http.errors.js';

/** What a new key is made of. */
export interface NewKey {
  readonly clientId: string;
  /** Absent: those granted by default. */
  readonly scopes?: readonly string[];
  readonly label?: string | null;
  /** Lifetime from now in milliseconds; absent: none. */
  readonly expires?: number;
}

/** What can be changed of a key. */
export interface KeyChanges {
  /** Null takes the label away. */
  readonly label?: string | null;
  /** How long it still lives, in milliseconds; never longer than before. */
  readonly expires?: number;
}

/** How a key is rotated. */
export interface Rotation {
  /** How long the old key still lives, in milliseconds; never longer than its own expiry. */
  readonly grace: number;
  /** Lifetime of the new key in milliseconds; absent: as long as the old one was made for. */
  readonly expires?: number;
}

/** Whether what is asked for is done although it ends the last key of a protected scope. */
export interface Forcible {
  readonly force?: boolean;
}

/** Throws validation_failed when none of the fields that can be changed is named: somebody meant to change one. */
export function requireChange<T extends object>(changes: T, fields: readonly (keyof T & string)[]): void {
  if (fields.some((field) => changes[field] !== undefined)) return;
  const message = `Name at least one change: ${fields.join(', ')}.`;
  throw new ApiError(HTTP_ERRORS.validation_failed, { details: [{ field: '', code: 'required', message }] });
}

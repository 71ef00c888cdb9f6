import type { Request } from 'express';
import { ApiError } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';

const LONGEST = 255;

/** Allowed values of an `Idempotency-Key`, as JSON Schema: visible ASCII characters, or a String of Structured Fields. */
export const IDEMPOTENCY_KEY_FORM = {
  minLength: 1,
  maxLength: 2 * LONGEST + 2,
  pattern: '^([!#-~][!-~]*|"([ !#-\\[\\]-~]|\\\\["\\\\])+")$',
} as const;

const ALLOWED = new RegExp(IDEMPOTENCY_KEY_FORM.pattern);

/**
 * The key that a header field has, bare or as a String (RFC 9651 section 3.3.3), so that `q1` and `"q1"` are one; undefined when it is
 * malformed.
 */
export function keyIn(field: string): string | undefined {
  if (!ALLOWED.test(field)) return undefined;
  const key = field.startsWith('"') ? field.slice(1, -1).replaceAll(/\\(.)/g, '$1') : field;
  return key.length <= LONGEST ? key : undefined;
}

/** The `Idempotency-Key` of a request; undefined without one. Throws validation_failed when it is malformed. */
export function idempotencyKeyOf(request: Request): string | undefined {
  const field = request.headers['idempotency-key'];
  if (field === undefined) return undefined;
  const key = typeof field === 'string' ? keyIn(field) : undefined;
  if (key !== undefined) return key;
  const message =
    'This must be 1 to 255 visible ASCII characters, such as a UUID, or in double quotes, with spaces and with \\ before " and \\.';
  throw new ApiError(HTTP_ERRORS.validation_failed, {
    details: [{ field: 'Idempotency-Key', code: 'malformed_key', message }],
  });
}

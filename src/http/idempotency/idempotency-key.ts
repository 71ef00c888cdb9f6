import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { ApiError } from '../../errors/api-error.js';
import { HTTP_ERRORS } from '../../errors/http.errors.js';
import { bodyBytesOf } from '../json-body.interceptor.js';

/** What an `Idempotency-Key` may be, as JSON Schema has it: 1 to 255 visible ASCII characters. */
export const IDEMPOTENCY_KEY_FORM = { minLength: 1, maxLength: 255, pattern: '^[!-~]+$' } as const;

const ALLOWED = new RegExp(IDEMPOTENCY_KEY_FORM.pattern);

/** The `Idempotency-Key` of a request; undefined without one. Throws validation_failed when it is malformed. */
export function idempotencyKeyOf(request: Request): string | undefined {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return undefined;
  const { maxLength } = IDEMPOTENCY_KEY_FORM;
  if (typeof key === 'string' && key.length <= maxLength && ALLOWED.test(key)) return key;
  const message = 'This must have 1 to 255 visible ASCII characters, such as a UUID.';
  throw new ApiError(HTTP_ERRORS.validation_failed, {
    details: [{ field: 'Idempotency-Key', code: 'malformed_key', message }],
  });
}

/** What tells two requests with one key apart: SHA-256 of method, target and body as sent. */
export function requestDigest(request: Request): string {
  return createHash('sha256')
    .update(`${request.method} ${request.originalUrl}\n`)
    .update(bodyBytesOf(request))
    .digest('hex');
}

import { HTTP_ERRORS } from '../errors/http.errors.js';
import { IDEMPOTENCY_KEY_FORM } from '../idempotency/idempotency.interceptor.js';
import type { OperationObject, ResponseObject } from './document-outlines.js';

// Neither parameter has an example: the Swagger UI would fill it in, and every second request would repeat the first.

/** Adds to an operation that is read with GET how a client asks whether it has changed. */
export function describeRevalidation(operation: OperationObject): void {
  addHeader(operation, 'If-None-Match', {
    description:
      'The `ETag` that the client has, as it was sent; if it is still the same, 304 without a body. A list of entity tags, ' +
      'or `*` (RFC 9110 section 13.1.2); anything else is ignored',
    schema: { type: 'string' },
  });
  operation.responses['304'] = {
    description: 'Nothing has changed since the `ETag` sent in `If-None-Match`',
  };
}

/** Adds to an operation that can be retried how a client says that it does. */
export function describeIdempotency(operation: OperationObject): void {
  addHeader(operation, 'Idempotency-Key', {
    description:
      'Makes the request safe to retry: repeated with the same key and body within 24 hours it is answered as before, ' +
      'and done once. 1 to 255 visible ASCII characters; a UUID for every new request is best.',
    schema: { type: 'string', ...IDEMPOTENCY_KEY_FORM },
  });
  for (const [status, response] of Object.entries(operation.responses) as [string, ResponseObject][]) {
    if (status.startsWith('2')) {
      response.headers = {
        ...response.headers,
        'Idempotent-Replayed': {
          description: '`true` when this is the answer to an earlier request with the same `Idempotency-Key`',
          schema: { type: 'string', enum: ['true'] },
        },
      };
    }
    if (Number(status) === HTTP_ERRORS.idempotency_in_progress.status) {
      response.headers = {
        ...response.headers,
        // An operation may have conflicts of its own, which waiting does not solve.
        'Retry-After': {
          description: 'With `idempotency_in_progress`: seconds to wait before the request is repeated',
          schema: { type: 'integer', format: 'int64' },
        },
      };
    }
  }
}

function addHeader(
  operation: OperationObject,
  name: string,
  { description, schema }: { description: string; schema: { type: 'string'; [constraint: string]: unknown } },
): void {
  const parameter = { name, in: 'header' as const, required: false, description, schema };
  operation.parameters = [...(operation.parameters ?? []), parameter];
}

import type { OperationObject, ResponseObject } from './document-types.js';

/** Adds to an operation that is read with GET how a client asks whether it has changed. */
export function describeRevalidation(operation: OperationObject): void {
  addHeader(operation, 'If-None-Match', {
    description: 'The `ETag` that the client has; if it is still the same, 304 without a body',
    example: '"kIx2Z0Zx6nJ0mPq1Vb9c4w"',
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
    example: '8e03978e-40d5-43e8-bc93-6894a57f9324',
  });
  for (const [status, response] of Object.entries(operation.responses)) {
    if (!status.startsWith('2')) continue;
    (response as ResponseObject).headers = {
      ...(response as ResponseObject).headers,
      'Idempotent-Replayed': {
        description: '`true` when this is the answer to an earlier request with the same `Idempotency-Key`',
        schema: { type: 'string' },
      },
    };
  }
}

function addHeader(
  operation: OperationObject,
  name: string,
  { description, example }: { description: string; example: string },
): void {
  const schema = { type: 'string' as const };
  const parameter = { name, in: 'header' as const, required: false, description, example, schema };
  operation.parameters = [...(operation.parameters ?? []), parameter];
}

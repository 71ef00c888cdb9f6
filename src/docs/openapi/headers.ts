import type { OpenAPIObject } from '@nestjs/swagger';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { IDEMPOTENCY_KEY_FORM } from '../../http/idempotency/idempotent.decorator.js';
import type { DeclaredOperation } from '../../core/declared-operation.js';

type Headers = NonNullable<NonNullable<OpenAPIObject['components']>['headers']>;
type OperationObject = NonNullable<OpenAPIObject['paths'][string]['get']>;

/** The headers of the quota, which every response of the API contains unless the quota could not be read. */
const QUOTA_HEADERS = {
  'X-RateLimit-Limit': integer('The limit that applies to the caller', 60),
  'X-RateLimit-Remaining': integer('Requests remaining in the current window', 59),
  'X-RateLimit-Reset': integer('Unix timestamp at which the limit resets', 1_795_132_860),
  'RateLimit-Policy': text(
    'For each window, the number of allowed requests (q) and its length in seconds (w)',
    '"minute";q=60;w=60, "day";q=1000;w=86400',
  ),
  RateLimit: text(
    'For each window, the number of remaining requests (r) and the seconds until the full limit is available again (t)',
    '"minute";r=59;t=31, "day";r=999;t=40210',
  ),
} satisfies Headers;

/** The headers of certain statuses and operations. */
const HEADERS = {
  'X-Request-Id': text(
    'Identifier of the request; quote it when you report a problem',
    'b0a6f2de-5b0f-4c0e-9d2c-6d8ab0a4a6cf',
  ),
  'Retry-After': integer('Seconds to wait before the next request', 31),
  'Retry-After-Optional': optional(integer('Sent with 503: seconds to wait before the next request', 1)),
  // Optional, because none of the three is sent if a handler sets Cache-Control.
  ETag: optional(
    text('Strong entity tag of this representation (RFC 9110 section 8.8.3)', '"kIx2Z0Zx6nJ0mPq1Vb9c4w"'),
  ),
  'Cache-Control': optional(
    text(
      'Who may store the response; it must be revalidated before each use (RFC 9111)',
      'private, no-cache',
    ),
  ),
  Vary: optional(text('Request headers that the response depends on', 'Authorization')),
  'Accept-Patch': {
    description:
      'The media types that this operation accepts (RFC 5789 section 3.1); absent if a content coding was refused',
    schema: { type: 'string' },
  },
  'Idempotent-Replayed': {
    description: '`true` when this is the response to an earlier request with the same `Idempotency-Key`',
    schema: { type: 'string', enum: ['true'] },
  },
  // Optional, because an operation may respond with 409 to other conflicts, which waiting does not resolve.
  'Retry-After-Conflict': optional(
    integer('Sent with `idempotency_in_progress`: seconds to wait before a retry', 1),
  ),
  Deprecation: text('When the operation was deprecated (RFC 9745)', '@1795132800'),
  Sunset: text('When the operation will be removed (RFC 8594)', 'Thu, 05 Dec 2030 00:00:00 GMT'),
  Link: text(
    'Links (RFC 8288) with rel `deprecation` to the description of the deprecation and, in an error, with rel `help` to the explanation of its code',
    '</docs>; rel="deprecation"; type="text/html"',
  ),
  // Optional, because refusals of Node's parser, or under overload, have none.
  'Link-Help': optional(
    text(
      'Link (RFC 8288) with rel `help` to the cause and the remedy of the error',
      '</docs/errors#invalid_api_key>; rel="help"',
    ),
  ),
} satisfies Headers;

/** Name in the document of a quota header that is absent if the quota could not be determined. */
const optionalName = (name: string): string => `${name}-Optional`;

/** Headers that the document describes once, under `components.headers`. */
export function documentedHeaders(realm: string): Headers {
  return {
    ...QUOTA_HEADERS,
    ...Object.fromEntries(
      Object.entries(QUOTA_HEADERS).map(([name, header]) => [
        optionalName(name),
        optional({ ...header, description: `${header.description}; absent if the quota could not be read` }),
      ]),
    ),
    ...HEADERS,
    'WWW-Authenticate': text('The required credential (RFC 6750)', `Bearer realm="${realm}"`),
  };
}

/** The headers of every response, as a Markdown table. */
export function headersOfAll(): string {
  const rows = Object.entries({ 'X-Request-Id': HEADERS['X-Request-Id'], ...QUOTA_HEADERS });
  return [
    '| Header | Meaning | Example |',
    '|---|---|---|',
    ...rows.map(([name, { description, example }]) => `| \`${name}\` | ${description} | \`${example}\` |`),
  ].join('\n');
}

/** References to the headers of a response with this status, by name. */
export function headersOf(
  status: string,
  method: string,
  { deprecation, isIdempotent }: DeclaredOperation,
): Record<string, { $ref: string }> {
  const isCounted = status !== 'default' && Number(status) < 500;
  const isError = status === 'default' || Number(status) >= 400;
  const isConflict = isIdempotent && Number(status) === HTTP_ERRORS.idempotency_in_progress.status;
  const quota = Object.keys(QUOTA_HEADERS).map((name) => (isCounted ? name : optionalName(name)));
  const others: (keyof typeof HEADERS | 'WWW-Authenticate')[] = ['X-Request-Id'];
  if (status === '401' || status === '403') others.push('WWW-Authenticate');
  if (method === 'get' && (status === '200' || status === '304'))
    others.push('ETag', 'Cache-Control', 'Vary');
  if (status === '429') others.push('Retry-After');
  if (method === 'patch' && status === '415') others.push('Accept-Patch');
  if (isIdempotent && status.startsWith('2')) others.push('Idempotent-Replayed');
  if (deprecation) others.push('Deprecation', 'Sunset', 'Link');
  if (isConflict) others.push('Retry-After-Conflict');
  if (!isCounted) others.push('Retry-After-Optional');
  if (isError && !deprecation) others.push('Link-Help');
  return Object.fromEntries(
    [...quota, ...others].map((component) => [
      component.replace(/-(?:Optional|Conflict|Help)$/, ''),
      { $ref: `#/components/headers/${component}` },
    ]),
  );
}

function integer(description: string, example: number) {
  return { description, required: true, schema: { type: 'integer' as const, format: 'int64' }, example };
}

function text(description: string, example: string) {
  return { description, required: true, schema: { type: 'string' as const }, example };
}

function optional<T extends { required: boolean }>(header: T): T {
  return { ...header, required: false };
}

// Neither parameter has an example: the Swagger UI would fill it in, and every second request would repeat the first.

/** Adds conditional requests (`If-None-Match`, 304) to a GET operation. */
export function describeRevalidation(operation: OperationObject): void {
  addHeader(operation, 'If-None-Match', {
    description:
      'The `ETag` of the stored response. If the resource has not changed, the service returns 304 without a body. The value is a list of entity ' +
      'tags, or `*` (RFC 9110 section 13.1.2). The service ignores any other value',
    schema: { type: 'string' },
  });
  operation.responses['304'] = {
    description: 'The resource has not changed since the `ETag` in `If-None-Match`',
  };
}

/** Adds `Idempotency-Key` to an operation that can be retried. */
export function describeIdempotency(operation: OperationObject): void {
  addHeader(operation, 'Idempotency-Key', {
    description:
      'Makes the request safe to retry. For 24 hours, a retry with the same key and body gets the same response, and the request is ' +
      'carried out once. The key consists of 1 to 255 visible ASCII characters, or is a String of Structured Fields (RFC 9651), so `q1` ' +
      'and `"q1"` are the same key. Use a new UUID for every new request.',
    schema: { type: 'string', ...IDEMPOTENCY_KEY_FORM },
  });
}

/** Adds `If-Match` to an operation that changes a resource. */
export function describePrecondition(
  operation: OperationObject,
  need: NonNullable<DeclaredOperation['ifMatch']>,
): void {
  addHeader(operation, 'If-Match', {
    description:
      'The `ETag` of the resource to change. If the resource has changed since, the service returns 412. The value is a list of entity tags, ' +
      'or `*` (RFC 9110 section 13.1.1). For any other value, the service returns 400. A weak tag never matches',
    required: need === 'required',
    schema: { type: 'string' },
  });
}

function addHeader(
  operation: OperationObject,
  name: string,
  header: { description: string; required?: boolean; schema: { type: 'string' } },
): void {
  operation.parameters = [
    ...(operation.parameters ?? []),
    { name, in: 'header', required: false, ...header },
  ];
}

import { defineErrors } from './define-errors.js';

/** Errors of HTTP and of the request chain, which every operation may return. */
export const HTTP_ERRORS = defineErrors({
  malformed_request: {
    status: 400,
    message: 'The request is malformed: {reason}.',
    example: { reason: 'it has no Host (RFC 9112 section 3.2)' },
    cause:
      'The bytes received are not an HTTP/1.1 request; `Host` is missing or invalid; `Host`, `Authorization` or `Content-Type` is repeated; ' +
      'the target is not a path or cannot be decoded; the transfer coding is unknown; the body does not match its `Content-Encoding`; or a form (`multipart/form-data`) is ' +
      'malformed, has no valid boundary, or contains a part that the service cannot process.',
    remedy: 'Send a well-formed HTTP/1.1 request, and percent-encode the path (RFC 3986 section 2.1).',
  },
  malformed_json: {
    status: 400,
    message: 'The request body is not valid JSON: {reason}.',
    example: { reason: 'it is empty' },
    cause:
      'A required body is empty or missing, or the body is not JSON (RFC 8259), is not UTF-8, has a duplicate member or a member named `__proto__`, ' +
      'is nested more than 64 levels deep, or contains a number of more than 1,000 characters.',
    remedy: 'Send one JSON document in UTF-8.',
  },
  validation_failed: {
    status: 400,
    message: 'The request contains invalid values; see details.',
    cause:
      'A field or parameter is missing or has an invalid value, the body contains an unknown field, the operation takes no body, ' +
      'or a query parameter is written in another case or with brackets. Other unknown query parameters are ignored.',
    remedy: 'Correct every field named in `details` and send the request again.',
  },
  route_not_found: {
    status: 404,
    message: 'There is no such route; /docs lists the operations.',
    cause: 'No operation has this path.',
    remedy:
      'Compare the path with /docs, which links to the docs of /account and /admin if they are served. Paths are case-sensitive and have no trailing slash.',
    command:
      'Compare `--url` with the address of the service; administration may be on another port or turned off (ADMIN_ON).',
  },
  method_not_allowed: {
    status: 405,
    message: 'This path does not support {method}; it supports {allowed}.',
    example: { method: 'DELETE', allowed: 'GET, HEAD, POST' },
    cause: 'The path exists, but does not support this method.',
    remedy: 'Use one of the methods in the `Allow` header.',
  },
  not_acceptable: {
    status: 406,
    message: 'This operation returns {type}, which the Accept header does not allow.',
    example: { type: 'application/json' },
    cause:
      'The `Accept` header does not include the media type of the response, or gives it a weight of 0. Parameters such as `charset` are ignored.',
    remedy: 'Send `Accept: application/json`, or omit the header.',
  },
  request_timeout: {
    status: 408,
    message: 'The request did not arrive in time.',
    cause: 'The headers or the body did not arrive completely within the time limit.',
    remedy: 'Send the whole request without pausing.',
  },
  idempotency_in_progress: {
    status: 409,
    message: 'A request with this Idempotency-Key is still in progress; retry in a second.',
    cause: 'The client has sent another request with the same `Idempotency-Key`, which has not finished.',
    remedy: 'Retry with the same key and body after the number of seconds in `Retry-After`.',
  },
  already_exists: {
    status: 409,
    message:
      'The request conflicts with an existing resource, because a value that must be unique is already in use.',
    cause:
      'A value that must be unique is already in use, and the operation has no more specific code for it.',
    remedy: 'Send a different value, or change the existing resource.',
  },
  reference_conflict: {
    status: 409,
    message:
      'The request refers to a resource that does not exist, or deletes a resource that is still referenced.',
    cause:
      'The request refers to a resource that no longer exists, or would delete a resource that is still referenced.',
    remedy: 'Fetch the current state. Before you delete a resource, delete the references to it.',
  },
  operation_removed: {
    status: 410,
    message: 'This operation was removed on {date}; use {replacement} instead.',
    example: { date: '2030-12-05', replacement: 'GET /account/usage' },
    cause: 'The operation was deprecated, and its removal date has passed.',
    remedy: 'Use the replacement named in the message.',
  },
  precondition_failed: {
    status: 412,
    message:
      'A precondition failed: the ETag of the resource is different, or this operation does not support If-Match.',
    cause:
      'No entity tag in `If-Match` matches the resource, `If-None-Match` matches it, or the operation changes data and does not support `If-Match`. A weak tag (`W/"…"`) never matches; a compressing proxy makes tags weak or appends `-gzip`.',
    remedy:
      'Fetch the resource again, reapply the change, and send its `ETag` unchanged, but without `W/` and `-gzip` if a proxy compresses responses. Do not send `If-Match` to an operation that does not document it.',
  },
  payload_too_large: {
    status: 413,
    message: 'The request body is larger than {limit} bytes.',
    example: { limit: 102_400 },
    cause:
      'The decoded body exceeds `BODY_LIMIT_BYTES` or the limit of the operation, or an uploaded file exceeds its limit.',
    remedy: 'Send a smaller body.',
  },
  uri_too_long: {
    status: 414,
    message: 'The request target is longer than {limit} characters.',
    example: { limit: 8_192 },
    cause: 'The path and the query together are too long.',
    remedy: 'Shorten the query.',
  },
  unsupported_media_type: {
    status: 415,
    message: 'The request body must be {type} in UTF-8; the supported content codings are {codings}.',
    example: { type: 'application/json', codings: 'gzip, deflate, br' },
    cause:
      '`Content-Type` is missing or malformed, names a type that the operation does not accept, or a charset other than UTF-8; or `Content-Encoding` is not supported. Parameters other than `charset` are ignored.',
    remedy: 'Send a type named in the message, usually `Content-Type: application/json`.',
  },
  idempotency_key_reused: {
    status: 422,
    message: 'This Idempotency-Key was already used for a different request; use a new one.',
    cause:
      'In the last 24 hours, the client sent the same `Idempotency-Key` with a different method, path or body.',
    remedy: 'Use a new key for every new request, and reuse a key only to retry exactly the same request.',
  },
  precondition_required: {
    status: 428,
    message: 'This operation requires If-Match with the ETag of the resource to change.',
    cause: 'The operation requires `If-Match`, so that changes by others are not overwritten.',
    remedy: 'Fetch the resource and send its `ETag` in `If-Match`. `*` matches any state.',
  },
  headers_too_large: {
    status: 431,
    message: 'The request headers are too large: at most {fields} fields and 16 KiB.',
    example: { fields: 100 },
    cause: 'The request line and headers exceed 16 KiB, or there are more than 100 header fields.',
    remedy: 'Send fewer or shorter headers.',
  },
  internal_error: {
    status: 500,
    message: 'The service failed to handle this request; the error is logged with its X-Request-Id.',
    cause: 'A bug in the service.',
    remedy: 'Retry later. If the error persists, report the `X-Request-Id`.',
  },
  service_unavailable: {
    status: 503,
    message: 'The service cannot handle the request right now: {reason}.',
    example: { reason: 'it is overloaded' },
    cause: 'The service is overloaded or shutting down, or the database is busy, full or unavailable.',
    remedy: 'Retry after the number of seconds in `Retry-After`.',
  },
});

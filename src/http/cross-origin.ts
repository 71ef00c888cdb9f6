/** The response headers that scripts of other origins may read. */
export const EXPOSED_HEADERS: readonly string[] = [
  'Link',
  'Location',
  'ETag',
  'Retry-After',
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit',
  'RateLimit-Policy',
  'Deprecation',
  'Sunset',
  'Idempotent-Replayed',
];

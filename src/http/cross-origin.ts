/** The headers of answers that scripts of pages of other origins may read. */
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

/**
 * The headers by which a browser lets a page of `origin` read an answer that is sent before any middleware runs: those that the CORS
 * middleware sets. `origins` is CORS_ORIGINS; none without it.
 */
export function crossOriginHeaders(
  origins: readonly string[],
  origin: string | undefined,
): Readonly<Record<string, string>> {
  if (origins.length === 0) return {};
  const exposed = { 'Access-Control-Expose-Headers': EXPOSED_HEADERS.join(',') };
  if (origins[0] === '*') return { ...exposed, 'Access-Control-Allow-Origin': '*' };
  const allowed = origin !== undefined && origins.includes(origin);
  return { ...exposed, Vary: 'Origin', ...(allowed ? { 'Access-Control-Allow-Origin': origin } : {}) };
}

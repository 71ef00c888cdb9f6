import { hash } from 'node:crypto';
import type { Request, Response } from 'express';
import { ApiError } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';

/** The strong entity tag of a representation (RFC 9110 section 8.8.3): 128 bits of SHA-1 of its bytes and `Link`. */
export function entityTag(body: string, link = ''): string {
  // JSON.stringify() adds the quotes and creates a flat string, because concatenation would triple the memory of a cached tag.
  return JSON.stringify(hash('sha1', `${link}\n${body}`, 'base64url').slice(0, 22));
}

/**
 * A list of entity tags (RFC 9110 section 8.8.3), whose elements may be empty (section 5.6.1.2). In a tag, a backslash is not an escape
 * character.
 */
const TAGS = /^(?:[ \t]*(?:(?:W\/)?"[!\x23-\x7e\x80-\xff]*"[ \t]*)?(?:,|$))*$/;
const TAG = /(W\/)?("[^"]*")/g;

/**
 * Whether an `If-None-Match` or `If-Match` contains a strong tag, or is `*`. `If-None-Match` uses weak comparison, which ignores weakness,
 * and `If-Match` strong comparison, in which a weak tag matches nothing (RFC 9110 sections 8.8.3.2, 13.1.1, 13.1.2). An invalid list
 * matches nothing.
 */
export function matchesEntityTag(
  field: string,
  tag: string,
  comparison: 'weak' | 'strong' = 'weak',
): boolean {
  const list = field.trim();
  if (list === '*' || (list === tag && tag.startsWith('"'))) return true;
  if (!TAGS.test(list)) return false;
  for (const [, weak, named] of list.matchAll(TAG))
    if (named === tag && (weak === undefined || comparison === 'weak')) return true;
  return false;
}

/** Whether a field is a valid `If-Match`: `*`, or comma-separated entity tags (RFC 9110 section 13.1.1). */
export function isEntityTagField(field: string): boolean {
  const list = field.trim();
  return list === '*' || TAGS.test(list);
}

/** The suffix that Apache and Caddy append to the tag of a compressed response. nginx and HAProxy make the tag weak. */
const OF_COMPRESSION = /-(?:gzip|br|zstd|deflate)"$/;
const CHANGED_BY_PROXY = {
  ...HTTP_ERRORS.precondition_failed,
  message:
    'A precondition failed: If-Match contains the current ETag, but a proxy has changed it (W/"…" or "…-gzip"). Send it ' +
    'without W/ and -gzip, and disable compression in the proxy.',
};

/** Throws precondition_failed unless an `If-Match` contains this tag. */
export function requireMatch(ifMatch: string, tag: string): void {
  if (matchesEntityTag(ifMatch, tag, 'strong')) return;
  const isChanged = [...ifMatch.matchAll(TAG)].some(
    ([, , named]) => named?.replace(OF_COMPRESSION, '"') === tag,
  );
  throw new ApiError(isChanged ? CHANGED_BY_PROXY : HTTP_ERRORS.precondition_failed);
}

/**
 * Sets the headers of a response with this tag. Returns whether the client already has it, so that the service returns 304. Throws
 * precondition_failed if an `If-Match` does not contain it.
 */
export function writeRevalidated(request: Request, response: Response, tag: string): boolean {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers;
  if (ifMatch !== undefined) requireMatch(ifMatch, tag);
  response.setHeader('ETag', tag);
  // Only the client may store it, and must revalidate it every time; another key may get another response.
  response.setHeader('Cache-Control', 'private, no-cache');
  const vary = response.getHeader('Vary');
  response.setHeader('Vary', vary === undefined ? 'Authorization' : `${String(vary)}, Authorization`);
  if (ifNoneMatch === undefined) return false;
  if (!matchesEntityTag(ifNoneMatch, tag)) {
    // Express would parse the field again and accept malformed tags.
    Object.defineProperty(request, 'fresh', { value: false });
    return false;
  }
  response.statusCode = 304;
  return true;
}

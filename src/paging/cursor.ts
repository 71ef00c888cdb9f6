import { createHash } from 'node:crypto';
import { type Position, brokenCursor } from '../database/keyset-page.js';

/** Characters of the digest that binds a cursor to its list. */
const DIGEST_LENGTH = 8;

/**
 * Makes the cursor of a position: opaque, URL-safe, and bound to the list and the filter that it was made for, so that
 * it is never taken for a place in another one.
 */
export function encodeCursor(position: Position, list: string): string {
  const text = Buffer.from(JSON.stringify(position)).toString('base64url');
  return digestOf(text, list) + text;
}

/** The position that a cursor stands for; throws validation_failed for one that is broken or of another list. */
export function decodeCursor(cursor: string, list: string): Position {
  const text = cursor.slice(DIGEST_LENGTH);
  if (cursor.slice(0, DIGEST_LENGTH) !== digestOf(text, list)) throw brokenCursor();
  try {
    const position: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (Array.isArray(position) && position.every((value) => typeof value === 'string')) return position;
  } catch {
    // Only a client that computes the digest itself gets here.
  }
  throw brokenCursor();
}

function digestOf(text: string, list: string): string {
  return createHash('sha256').update(`${list}\n${text}`).digest('base64url').slice(0, DIGEST_LENGTH);
}

/**
 * The `Link` header of a page that another follows (RFC 8288): relative references to the next page and to the first. Of the
 * query only the parameters that `isKnown` are repeated, as they were sent: filter and limit.
 */
export function pageLinks(
  path: string,
  query: string,
  nextCursor: string,
  isKnown: (parameter: string) => boolean,
): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of new URLSearchParams(query))
    if (name !== 'cursor' && isKnown(name)) parameters.append(name, value);
  const first = parameters.toString();
  parameters.set('cursor', nextCursor);
  return `<${path}?${parameters.toString()}>; rel="next", <${path}${first === '' ? '' : `?${first}`}>; rel="first"`;
}

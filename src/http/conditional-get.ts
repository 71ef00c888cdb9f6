import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';

/**
 * The strong entity tag of a representation (RFC 9110 section 8.8.3): 128 bits of SHA-1 over the bytes and the `Link`
 * that is sent beside them. It only has to tell versions apart; nobody is defended against.
 */
export function entityTag(body: string, link: string): string {
  return `"${createHash('sha1').update(link).update('\n').update(body).digest('base64url').slice(0, 22)}"`;
}

/** Whether an `If-None-Match` names the tag or any (RFC 9110 section 13.1.2); weakness is ignored there. */
export function namesEntityTag(ifNoneMatch: string, tag: string): boolean {
  if (ifNoneMatch.trim() === '*') return true;
  return [...ifNoneMatch.matchAll(/(?:W\/)?("[^"]*")/g)].some(([, named]) => named === tag);
}

/** Sets what an answer with this tag carries, by Node's own means; answers whether the client has it already, and makes it a 304 then. */
export function writeRevalidated({ headers }: Request, response: Response, tag: string): boolean {
  response.setHeader('ETag', tag);
  // Stored by the client alone, and asked for again every time; another key may not be answered the same.
  response.setHeader('Cache-Control', 'private, no-cache');
  const vary = response.getHeader('Vary');
  response.setHeader('Vary', vary === undefined ? 'Authorization' : `${String(vary)}, Authorization`);
  const ifNoneMatch = headers['if-none-match'];
  if (ifNoneMatch === undefined || !namesEntityTag(ifNoneMatch, tag)) return false;
  response.statusCode = 304;
  return true;
}

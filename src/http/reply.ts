import { type HttpServer, HttpException } from '@nestjs/common';
import type { Response } from 'express';
import { writeRefusal } from '../core/errors/write-refusal.js';
import { endTogether } from '../core/ended-together.js';
import { JsonText } from '../database/json-rows.js';
import { entityTag, writeRevalidated } from './caching/entity-tag.js';
import { JSON_CONTENT_TYPE, represent } from './representation.js';

/** Statuses whose responses have no body (RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5). */
const BODILESS = new Set([204, 205, 304]);

/** Makes an Express adapter respond as this service does: JSON with exact numbers, an entity tag, and 304 for a client that has it. */
export function replyExactly(adapter: Pick<HttpServer, 'reply'>): void {
  const send = adapter.reply.bind(adapter) as (response: Response, body: unknown) => unknown;
  adapter.reply = (response: Response, body: unknown, status?: number): unknown => {
    if (status !== undefined) response.status(status);
    // An exception filter of a module responds by this call with a status.
    if (status !== undefined && status >= 400) {
      writeRefusal(new HttpException(body as string | object, status), response.req, response);
      return undefined;
    }
    const operation = response.req.matchedHandler?.operation;
    const represented = represent(response, body, operation);
    const text = represented instanceof JsonText ? represented.text : represented;
    if (typeof text !== 'string') return send(response, represented);
    if (isTagged(response)) {
      const tag = tagFor(response, represented as JsonText | string);
      if (writeRevalidated(response.req, response, tag)) {
        response.removeHeader('Content-Type');
        endTogether(response);
        return undefined;
      }
    } else if (operation?.hasEntityTag && !response.hasHeader('ETag'))
      response.setHeader('ETag', tagOf(represented as JsonText | string, ''));
    return write(response, text, send);
  };
}

/** Turns errors that are written by `response.json()`, as in a filter of a module, into the Error body with their message. */
export function refuseExactly({ response: prototype }: { readonly response: Response }): void {
  const { json } = prototype;
  prototype.json = function writeJson(this: Response, body: unknown): Response {
    if (this.statusCode < 400) return json.call(this, body);
    writeRefusal(new HttpException(body as string | object, this.statusCode), this.req, this);
    return this;
  };
}

/** Whether a response gets an entity tag: a 200 response to GET, unless its handler has set `Cache-Control`. */
function isTagged(response: Response): boolean {
  const { method } = response.req;
  return (
    (method === 'GET' || method === 'HEAD') &&
    response.statusCode === 200 &&
    !response.hasHeader('Cache-Control')
  );
}

/** The tag that the handler has set, or that of the representation with the links of the handler alone, not those of guards. */
function tagFor(response: Response, body: JsonText | string): string {
  const own = response.getHeader('ETag');
  if (own !== undefined) return String(own);
  const link = response.getHeader('Link');
  const ofHandler = link === undefined || String(link) === response.req.linkOfGuards ? '' : String(link);
  return tagOf(body, ofHandler);
}

/** The tag of a text and a link, which a JsonText keeps: one that is cached is hashed once. */
function tagOf(body: JsonText | string, link: string): string {
  if (typeof body === 'string') return entityTag(body, link);
  if (body.tag?.link !== link) body.tag = { link, value: entityTag(body.text, link) };
  return body.tag.value;
}

/** Sends a text as Express does; plain JSON past its `send()`, which would change nothing of it. */
function write(
  response: Response,
  text: string,
  send: (response: Response, body: unknown) => unknown,
): unknown {
  if (!isPlainJson(response)) return send(response, text);
  response.setHeader('Content-Length', Buffer.byteLength(text));
  endTogether(response, text);
  return undefined;
}

/** Whether Express would send the body as it is: with the same status, the same headers, and in full. */
function isPlainJson(response: Response): boolean {
  const { headers } = response.req;
  return (
    !BODILESS.has(response.statusCode) &&
    response.getHeader('Content-Type') === JSON_CONTENT_TYPE &&
    !response.hasHeader('Transfer-Encoding') &&
    !('if-none-match' in headers || 'if-modified-since' in headers)
  );
}

import { HttpException, type HttpServer, StreamableFile, type Type } from '@nestjs/common';
import { isStreamingBody } from '@nestjs/core/router/streaming-body.js';
import type { Response } from 'express';
import { endTogether } from '../core/ended-together.js';
import { writeRefusal } from '../core/errors/write-refusal.js';
import { publicPrefixOf } from '../core/public-prefix.js';
import { declaredMembers } from '../database/declared-members.js';
import { JsonText } from '../database/json-rows.js';
import type { DeclaredOperation } from './adapter/declared-operation.js';
import { writeExactJson } from './body/exact-json.js';
import { entityTag, writeRevalidated } from './caching/entity-tag.js';

/** The media type of JSON responses. */
export const JSON_CONTENT_TYPE = 'application/json; charset=utf-8';
/** Statuses whose responses have no body (RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5). */
const BODILESS = new Set([204, 205, 304]);

/**
 * The representation of a handler's result (RFC 9110 section 3.2): its JSON text, with every `bigint` exact, where
 * JSON.stringify would throw on one. Of objects it has what the DTO of `@Operation()` declares. Sets the `Content-Type`, and the
 * `Location` that the operation declares. A text of another type that the handler names is its own representation, and so is what
 * Nest sends piece by piece, an empty body, and what was made by this function.
 */
export function represent(response: Response, body: unknown, operation?: DeclaredOperation): unknown {
  if (body === undefined || response.headersSent || isStreamed(body)) return body;
  if (operation?.location && !response.hasHeader('Location')) locate(operation.location, body, response);
  if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', JSON_CONTENT_TYPE);
  // A handler that names another type writes its texts itself; Nest would still write an object as JSON.
  else if (typeof body !== 'object' || body === null) return body;
  return body instanceof JsonText ? body : new JsonText(jsonOf(body, operation?.shownAs));
}

/** A relative reference (RFC 9110 section 10.2.2): the service does not know by which host the client has reached it. */
function locate(locationOf: (answer: never) => string, body: unknown, response: Response): void {
  const answer: unknown = body instanceof JsonText ? body.toJSON() : body;
  response.setHeader('Location', publicPrefixOf(response.req) + locationOf(answer as never));
}

/** A response as JSON text; of its objects what the DTO declares, if one is given. */
export function jsonOf(answer: unknown, dto: Type | undefined): string {
  if (answer instanceof JsonText) return answer.text;
  return writeExactJson(dto ? shownAs(dto, answer) : answer);
}

/** Whether Nest sends it piece by piece: a file, a web Response, a stream or another async iterable. */
function isStreamed(body: unknown): boolean {
  return (
    typeof body === 'object' &&
    !(body instanceof JsonText) &&
    (body instanceof StreamableFile || isStreamingBody(body))
  );
}

/**
 * A response reduced to what a DTO declares: the declared members of an object, in the order of the schema, and of an array
 * each element so. An object that lacks a required member is not of this DTO (an added interceptor may wrap results in an
 * envelope) and stays as it is; the test kit reports that it contradicts the OpenAPI document.
 */
function shownAs(dto: Type, answer: unknown, isNested = false): unknown {
  const value = inJson(answer);
  if (Array.isArray(value)) return value.map((element) => shownAs(dto, element, isNested));
  return isObject(value) && (isNested || isOf(dto, value)) ? declaredOf(dto, value) : value;
}

/** All of the value if the class declares no member. */
function declaredOf(dto: Type, value: Members): unknown {
  const members = declaredMembers(dto);
  if (members.length === 0) return value;
  const shown: Record<string, unknown> = {};
  for (const { property, name, type, isAbsentAsNull } of members) {
    const member = value[property];
    if (member !== undefined && !(member === null && isAbsentAsNull))
      shown[name] = type ? shownAs(type, member, true) : member;
  }
  return shown;
}

function isOf(dto: Type, value: Members): boolean {
  return declaredMembers(dto).every(({ property, isRequired }) => !isRequired || property in value);
}

type Members = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null;
}

/** JSON is made from what `toJSON` returns, as JSON.stringify does. */
function inJson(value: unknown): unknown {
  return isObject(value) && typeof value['toJSON'] === 'function' ? (value['toJSON']() as unknown) : value;
}

/** Makes an Express adapter respond as this service does: JSON with exact numbers, an entity tag, and 304 for a client that has it. */
export function replyExactly(adapter: Pick<HttpServer, 'reply'>): void {
  const send = adapter.reply.bind(adapter) as (response: Response, body: unknown) => unknown;
  adapter.reply = (response: Response, body: unknown, status?: number): unknown => {
    if (status !== undefined) response.status(status);
    // An exception filter of a module responds so, or a handler that has set the status.
    if (response.statusCode >= 400 && (typeof body === 'string' ? isPlainText(response) : !isStreamed(body)))
      return refuse(response, body);
    // Nest gives the text of its refusal the type of the file if that has failed by now, otherwise text/plain.
    if (body instanceof StreamableFile && body.getStream().errored) response.removeHeader('Content-Type');
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

/**
 * Has `response.json()` write numbers exactly. Turns errors that it writes, or `send()` as a text, as in a filter of a module, into the
 * Error body with their message.
 */
export function refuseExactly({ response: prototype }: { readonly response: Response }): void {
  const { send } = prototype;
  prototype.json = function writeJson(this: Response, body: unknown): Response {
    if (this.statusCode >= 400) return refuse(this, body);
    if (!this.hasHeader('Content-Type')) this.setHeader('Content-Type', JSON_CONTENT_TYPE);
    return send.call(this, body === undefined ? body : jsonOf(body, undefined));
  };
  prototype.send = function writeText(this: Response, body: unknown): Response {
    const isText = this.statusCode >= 400 && typeof body === 'string' && isPlainText(this);
    return isText ? refuse(this, body) : send.call(this, body);
  };
}

/** Sends what a response has with a status of 400 and above as an Error body. */
function refuse(response: Response, body: unknown): Response {
  writeRefusal(new HttpException(body as string | object, response.statusCode), response.req, response);
  return response;
}

/** Whether a text would be sent as such: the handler has named no other type, such as that of an HTML page. */
function isPlainText(response: Response): boolean {
  return /^(text\/plain\b|$)/i.test(String(response.getHeader('Content-Type') ?? ''));
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
  return (
    !BODILESS.has(response.statusCode) &&
    response.getHeader('Content-Type') === JSON_CONTENT_TYPE &&
    !response.hasHeader('Transfer-Encoding') &&
    !isRevalidated(response)
  );
}

/** Whether Express may make it a 304. */
function isRevalidated(response: Response): boolean {
  const { headers } = response.req;
  if (!('if-none-match' in headers || 'if-modified-since' in headers)) return false;
  return response.hasHeader('ETag') || response.hasHeader('Last-Modified');
}

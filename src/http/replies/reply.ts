import { type HttpServer, Logger, StreamableFile, type Type } from '@nestjs/common';
import { isStreamingBody } from '@nestjs/core/router/streaming-body.js';
import type { Response } from 'express';
import { deferEnd } from '../../core/deferred-end.js';
import { exceptionOf, writeRefusal } from '../../core/errors/write-refusal.js';
import { publicPrefixOf } from '../../core/public-prefix.js';
import { declaredMembers } from '../../database/declared-members.js';
import { JsonText } from '../../database/json-rows.js';
import type { RegisteredOperation } from '../operations/registered-operation.js';
import { refuseCircle, writeExactJson } from '../../core/exact-json.js';
import { entityTag, writeRevalidated } from './entity-tag.js';
import { shapeOf } from '../operations/declared-shape.js';
import { isJsonType, mediaTypeOf } from '../../core/media-type.js';
import type { OnMissing } from '../operations/shapes.js';

/** The media type of JSON responses. */
export const JSON_CONTENT_TYPE = 'application/json; charset=utf-8';
/** Statuses whose responses have no body (RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5). */
const BODILESS = new Set([204, 205, 304]);

/**
 * The representation of a handler's result (RFC 9110 section 3.2): its JSON text, with exact `bigint` values, for which JSON.stringify
 * would throw. It contains only members that the DTO of `@Operation()` declares. Sets the `Content-Type`, and the `Location` that the
 * operation declares. Text of another type named by the handler, streams and empty bodies are returned unchanged.
 */
export function represent(response: Response, body: unknown, operation?: RegisteredOperation): unknown {
  if (body === undefined || response.headersSent) return body;
  if (isStreamed(body)) return streamed(body, operation);
  const { location, dto } = operation?.response ?? {};
  if (location && !response.hasHeader('Location')) locate(location, body, response);
  const type = response.getHeader('Content-Type');
  if (type === undefined) response.setHeader('Content-Type', JSON_CONTENT_TYPE);
  // A handler that names another type serializes text itself; Nest would still serialize an object as JSON.
  else if (typeof body !== 'object' || body === null) {
    const isJson = typeof body === 'string' && isJsonType(mediaTypeOf(String(type)));
    return isJson && dto ? textOf(new JsonText(body), dto, operation) : body;
  }
  return textOf(body, dto, operation);
}

/** A relative reference (RFC 9110 section 10.2.2), because the service does not know the host name that the client used. */
function locate(locationOf: (sendOf: never) => string, body: unknown, response: Response): void {
  const sendOf: unknown = body instanceof JsonText ? body.toJSON() : body;
  response.setHeader('Location', publicPrefixOf(response.req) + locationOf(sendOf as never));
}

/** Serializes a response as JSON, reduced to the members that the DTO, if given, declares. */
export function jsonOf(sendOf: unknown, dto: Type | undefined): string {
  return textOf(sendOf, dto).text;
}

/** Texts written by handlers, such as cached ones, reduced to the members that their DTO declares. */
const reduced = new WeakMap<JsonText, JsonText>();

function textOf(body: unknown, dto: Type | undefined, operation?: RegisteredOperation): JsonText {
  if (!dto) return body instanceof JsonText ? body : new JsonText(writeExactJson(body));
  if (!(body instanceof JsonText)) return reducedText(body, dto, operation);
  if (body.dto === dto) return body;
  let text = reduced.get(body);
  if (text?.dto !== dto) reduced.set(body, (text = reducedText(body, dto, operation)));
  return text;
}

function reducedText(body: unknown, dto: Type, operation: RegisteredOperation | undefined): JsonText {
  try {
    const shown = shapeOf(dto).show(body, missingMemberLogger(operation));
    return new JsonText(writeExactJson(shown), false, dto);
  } catch (error) {
    // With a DTO that references itself, entities may form a cycle.
    if (error instanceof RangeError) refuseCircle(body);
    throw error;
  }
}

const logger = new Logger('Response');
const logged = new WeakMap<RegisteredOperation, OnMissing>();

/** Logs each member that responses of an operation lack, once. */
function missingMemberLogger(operation: RegisteredOperation | undefined): OnMissing {
  if (!operation) return () => undefined;
  const { id, name } = operation;
  let onMissing = logged.get(operation);
  if (!onMissing) {
    const members = new Set<string>();
    onMissing = (member, owner) => {
      if (members.has(`${owner}.${member}`)) return;
      members.add(`${owner}.${member}`);
      logger.warn(
        `The response of ${id} (${name}) lacks "${member}" of ${owner}, or its value does not match the declaration.`,
      );
    };
    logged.set(operation, onMissing);
  }
  return onMissing;
}

/** Whether a result matches a DTO: an object with all required members and at least one declared member, or an array of such objects. */
export function isOf(dto: Type, result: unknown): boolean {
  if (Array.isArray(result)) return result.every((one) => isOf(dto, one));
  return (
    typeof result === 'object' &&
    result !== null &&
    shapeOf(dto).matches(result) &&
    declaredMembers(dto).some(({ property }) => property in result)
  );
}

/** Whether a handler's result still needs to be serialized. */
export function isValue(response: Response, result: unknown): boolean {
  const isDone = result === undefined || result instanceof JsonText || isStreamed(result);
  return !isDone && !response.hasHeader('Content-Type');
}

/** Whether Nest streams the body: a file, a web Response, a stream or another async iterable. */
function isStreamed(body: unknown): boolean {
  return (
    typeof body === 'object' &&
    !(body instanceof JsonText) &&
    (body instanceof StreamableFile || isStreamingBody(body))
  );
}

/** Throws for a stream of objects if a DTO is declared, because Nest would write each object unreduced. */
function streamed(body: unknown, operation: RegisteredOperation | undefined): unknown {
  const isOfObjects = body instanceof StreamableFile && body.getHeaders().type === 'application/x-ndjson';
  const dto = operation?.response?.dto;
  if (isOfObjects && dto && declaredMembers(dto).length > 0)
    throw new Error(
      `${operation?.id} streams objects, which are not reduced to the members that ${dto.name} declares. ` +
        'Return an array; or declare the contentType, and write the text of each object.',
    );
  return body;
}

/** Makes an Express adapter respond like this service: JSON with exact numbers, entity tags, and 304 if the client is up to date. */
export function replyExactly(adapter: Pick<HttpServer, 'reply'>): void {
  const send = adapter.reply.bind(adapter) as (response: Response, body: unknown) => unknown;
  adapter.reply = (response: Response, body: unknown, status?: number): unknown => {
    if (status !== undefined) response.status(status);
    // Sent by a module's exception filter, or by a handler that has set the status.
    if (becomesErrorBody(response, body)) return refuse(response, body);
    // If the file has already failed, Nest sends its error text with the file's type, otherwise with text/plain.
    if (body instanceof StreamableFile && body.getStream().errored) response.removeHeader('Content-Type');
    const operation = operationOf(response);
    const represented = represent(response, body, operation);
    const text = represented instanceof JsonText ? represented.text : represented;
    if (typeof text !== 'string') return send(response, represented);
    if (isTagged(response)) {
      const tag = tagFor(response, represented as JsonText | string);
      if (writeRevalidated(response.req, response, tag)) {
        response.removeHeader('Content-Type');
        deferEnd(response);
        return undefined;
      }
    } else if (operation?.response?.hasEntityTag && !response.hasHeader('ETag'))
      response.setHeader('ETag', tagOf(represented as JsonText | string, ''));
    return write(response, text, send);
  };
}

/**
 * Makes `response.json()` write exact numbers and only members that the operation's DTO declares. Converts errors that it or `send()`
 * writes, as in a module's filter, to the Error body with their message.
 */
export function refuseExactly({ response: prototype }: { readonly response: Response }): void {
  const { send } = prototype;
  prototype.json = function writeJson(this: Response, body: unknown): Response {
    if (becomesErrorBody(this, body)) return refuse(this, body);
    if (!this.hasHeader('Content-Type')) this.setHeader('Content-Type', JSON_CONTENT_TYPE);
    const operation = operationOf(this);
    return send.call(
      this,
      body === undefined ? body : textOf(body, operation?.response?.dto, operation).text,
    );
  };
  // Without JSONP, because only JSON is documented.
  prototype.jsonp = prototype.json;
  prototype.send = function writeText(this: Response, body: unknown): Response {
    if (typeof body !== 'string') return send.call(this, body);
    if (becomesErrorBody(this, body)) return refuse(this, body);
    const operation = written.has(this) ? undefined : operationOf(this);
    const dto = operation?.response?.dto;
    const isShown = dto && isJsonType(mediaTypeOf(typeOf(this)));
    return send.call(this, isShown ? textOf(new JsonText(body), dto, operation).text : body);
  };
}

/** Converts an error that a filter sends with `end()`, even without text, to the Error body. */
export function refuseAtEnd(response: Response): void {
  // An existing override, for example by a compression middleware.
  const before = Object.getOwnPropertyDescriptor(response, 'end');
  response.end = (...args: [unknown?]): Response => {
    if (before) Object.defineProperty(response, 'end', before);
    else Reflect.deleteProperty(response, 'end');
    const [body] = args;
    const text = typeof body === 'string' ? body : '';
    const isRefused = !response.headersSent && !Buffer.isBuffer(body) && becomesErrorBody(response, text);
    return isRefused ? refuse(response, text) : response.end(...args);
  };
}

/** Sends a response with a status of 400 or above as an Error body. */
function refuse(response: Response, body: unknown): Response {
  const { req: request, statusCode } = response;
  const isJson = typeof body === 'string' && isJsonType(mediaTypeOf(typeOf(response)));
  const sent = isJson ? parsedOr(body) : body;
  writeRefusal(exceptionOf(sent, statusCode, request.exception), request, response);
  return response;
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * Whether a response with an error status becomes the Error body: if it is JSON or text, or has no type. Another type, such as
 * application/problem+json, is kept if set by a filter; if set by a handler, only for text, such as an HTML page.
 */
function becomesErrorBody(response: Response, body: unknown): boolean {
  if (response.statusCode < 400 || isStreamed(body)) return false;
  const isOfHandler = response.req.exception === undefined;
  if (isOfHandler && typeof body !== 'string') return true;
  return /^(?:application\/json|text\/plain|)\s*(?:;|$)/i.test(typeOf(response));
}

function typeOf(response: Response): string {
  return String(response.getHeader('Content-Type') ?? '');
}

/** The operation that sends a response; undefined for an error response. */
function operationOf({ req, statusCode }: Response): RegisteredOperation | undefined {
  return statusCode < 400 ? req.operation : undefined;
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

/** The tag set by the handler, or that of the representation with the handler's links, without those of guards. */
function tagFor(response: Response, body: JsonText | string): string {
  const own = response.getHeader('ETag');
  if (own !== undefined) return String(own);
  const link = response.getHeader('Link');
  const ofHandler = link === undefined || String(link) === response.req.linkOfGuards ? '' : String(link);
  return tagOf(body, ofHandler);
}

/** The tag of a text and a link, stored in a JsonText so that a cached text is hashed once. */
function tagOf(body: JsonText | string, link: string): string {
  if (typeof body === 'string') return entityTag(body, link);
  if (body.tag?.link !== link) body.tag = { link, value: entityTag(body.text, link) };
  return body.tag.value;
}

/** Responses that are already serialized, which `send()` leaves unchanged. */
const written = new WeakSet<Response>();

/** Sends a text like Express, but bypasses its `send()` for plain JSON, which it would not change. */
function write(
  response: Response,
  text: string,
  send: (response: Response, body: unknown) => unknown,
): unknown {
  if (!isPlainJson(response)) {
    written.add(response);
    return send(response, text);
  }
  deferEnd(response, text);
  return undefined;
}

/** Whether Express would send the body unchanged: with the same status and headers, and in full. */
function isPlainJson(response: Response): boolean {
  return (
    !BODILESS.has(response.statusCode) &&
    response.getHeader('Content-Type') === JSON_CONTENT_TYPE &&
    !response.hasHeader('Transfer-Encoding') &&
    !isRevalidated(response)
  );
}

/** Whether Express may turn it into a 304. */
function isRevalidated(response: Response): boolean {
  const { headers } = response.req;
  if (!('if-none-match' in headers || 'if-modified-since' in headers)) return false;
  return response.hasHeader('ETag') || response.hasHeader('Last-Modified');
}

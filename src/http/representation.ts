import { StreamableFile, type Type } from '@nestjs/common';
import { isStreamingBody } from '@nestjs/core/router/streaming-body.js';
import type { Response } from 'express';
import { declaredMembers } from '../database/declared-members.js';
import { JsonText } from '../database/json-rows.js';
import { publicPrefixOf } from '../core/public-prefix.js';
import type { DeclaredOperation } from './adapter/declared-operation.js';
import { writeExactJson } from './body/exact-json.js';

/** The media type of JSON responses. */
export const JSON_CONTENT_TYPE = 'application/json; charset=utf-8';

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
  response.setHeader('Location', publicPrefixOf(response.app) + locationOf(answer as never));
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

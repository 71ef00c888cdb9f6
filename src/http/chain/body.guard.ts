import type { IncomingMessage } from 'node:http';
import { type CanActivate, type ExecutionContext, Injectable, type RawBodyRequest } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Settings } from '../../core/config/settings.js';
import { ApiError } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { requestOf, responseOf } from '../../core/execution-context.js';
import { type Consumption, acceptsType } from '../operations/consumption.js';
import { OPERATIONS } from '../operations/registered-operation.js';
import { UnmatchedRoutes } from './unmatched-routes.js';
import { parseExactJson, writeExactJson } from '../../core/exact-json.js';
import { checkMultipart } from '../body/multipart-check.js';
import { CODINGS, limitBody, readBody, unsupported } from '../body/read-body.js';
import { isJsonType, mediaTypeOf } from '../../core/media-type.js';

const NO_BYTES = Buffer.alloc(0);
/** Throws for invalid UTF-8. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });
/** White space only, which some clients send for an empty body. */
const BLANK = /^[ \t\n\r]*$/;
const BODILESS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Whether a request announces a body (RFC 9112 section 6). */
export function announcesBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && Number(length) !== 0);
}

/**
 * Reads and parses the body as declared by `@Consumes()`. It is the last global guard, so that the body of a refused request is not read.
 */
@Injectable()
export class BodyGuard implements CanActivate {
  constructor(private readonly settings: Settings) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = requestOf(context);
    if (!request) return true;
    const response = responseOf(context);
    const operation = OPERATIONS.of(context);
    // Nest passes its execution context neither to the adapter nor to filters.
    request.operation = operation;
    const link = response.getHeader('Link');
    if (link !== undefined) request.linkOfGuards = String(link);
    // 404 and 405 take precedence over 415, 413 and 400.
    if (BODILESS.has(request.method) || context.getClass() === UnmatchedRoutes) return true;
    if (!announcesBody(request)) {
      storeRawBody(request, NO_BYTES);
      return true;
    }
    // A module's middleware has read it.
    if (request.readableEnded) {
      const { body } = request as { readonly body: unknown };
      storeRawBody(request, Buffer.isBuffer(body) ? body : Buffer.from(writeExactJson(body)));
      return true;
    }
    const { id, consumption, bodyLimitBytes: limitBytes = this.settings.bodyLimitBytes } = operation;
    const { types, isRead, isParsed, isWanted, acceptsText } = consumption;
    const sent = mediaTypeOf(request.headers['content-type']);
    if (isRead || (isParsed && isJsonType(sent))) {
      const reading = read(request, response, consumption, limitBytes);
      return id !== undefined && !isWanted ? reading.then(() => refuseIgnored(request.body)) : reading;
    }
    if (!acceptsType(consumption, request.headers['content-type'])) throw unsupported(request, types, []);
    if (sent === 'multipart/form-data')
      checkMultipart(request, { acceptsText: id === undefined || acceptsText });
    limitBody(request, response, { types, limitBytes });
    // Replaced by whatever reads the body; otherwise, ValidationPipe throws it.
    if (isParsed) request.body = unsupported(request, types, []);
    return true;
  }
}

/** Reads the whole body for `@Body()` and `@RawBody()`. */
async function read(
  request: Request,
  response: Response,
  consumption: Consumption,
  limitBytes: number,
): Promise<true> {
  const { 'content-type': contentType, 'content-length': length } = request.headers;
  const { types, isParsed } = consumption;
  const isAccepted = acceptsType(consumption, contentType);
  // A chunked body may turn out to be empty, and then needs no type.
  if (!isAccepted && length !== undefined) throw unsupported(request, types, CODINGS);
  const bytes = await readBody(request, response, { types, limitBytes });
  if (!isAccepted && bytes.length > 0) throw unsupported(request, types, CODINGS);
  storeRawBody(request, bytes);
  if (isParsed && (!isAccepted || isJsonType(mediaTypeOf(contentType)))) request.body = parsed(bytes);
  return true;
}

/** Stores the bytes of a body for Nest's `@RawBody()` and `RawBodyRequest`. */
function storeRawBody(request: RawBodyRequest<Request>, bytes: Buffer): void {
  request.rawBody ??= bytes;
}

/** Refuses a body that the operation would ignore although the client relies on it. A body without fields is allowed. */
function refuseIgnored(body: unknown): true {
  if (body === undefined || body === null) return true;
  const isObject = Object.getPrototypeOf(body) === Object.prototype;
  const code = isObject ? 'unknown_field' : 'not_an_object';
  const fields = isObject ? Object.keys(body) : [''];
  if (fields.length === 0) return true;
  const message = 'This operation does not accept a body. Omit it.';
  throw new ApiError(HTTP_ERRORS.validation_failed, {
    details: fields.map((field) => ({ field, code, message })),
  });
}

function parsed(bytes: Buffer): unknown {
  const text = textOf(bytes);
  if (BLANK.test(text)) return undefined;
  try {
    return parseExactJson(text);
  } catch (error) {
    // The parser quotes the unexpected character, which may be half of a surrogate pair.
    throw error instanceof SyntaxError ? notJson(error.message.toWellFormed(), error) : error;
  }
}

function textOf(bytes: Buffer): string {
  try {
    return UTF8.decode(bytes);
  } catch (error) {
    throw notJson('it is not UTF-8', error);
  }
}

function notJson(reason: string, cause: unknown): ApiError {
  return new ApiError(HTTP_ERRORS.malformed_json, { params: { reason }, cause });
}

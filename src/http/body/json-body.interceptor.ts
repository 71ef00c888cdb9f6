import { type ExecutionContext, Injectable, type RawBodyRequest, RequestMethod } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import type { Request, Response } from 'express';
import { Settings } from '../../core/config/settings.js';
import { ApiError } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { RequestSlot } from '../../core/request-slot.js';
import { announcesBody } from '../adapter/service-server.js';
import { AsyncInterceptor } from '../async.interceptor.js';
import { isJsonType, mediaTypeOf } from '../media-type.js';
import { CONSUMPTION, ignoresBodies, takes, type Consumption } from './consumes.decorator.js';
import { parseExactJsonIfAny } from './exact-json.js';
import { limitBody } from './limited-body.js';
import { refusalOfMultipart } from './multipart-refusals.js';
import { CODINGS, readBody, unsupported } from './read-body.js';

const NO_BYTES = Buffer.alloc(0);
const BODY_BYTES = new RequestSlot<Buffer>();

/** The body of a request as sent, once it has been read; empty without one. */
export function bodyBytesOf(request: Request): Buffer {
  return BODY_BYTES.get(request) ?? NO_BYTES;
}

/** Throws for bytes that are not UTF-8. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });
const BODILESS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Reads the body, and parses it if it is JSON. A body of another type is read or left to the handler as `@Consumes()` declares
 * it. It is an interceptor because those run behind the guards: a caller without a valid key, quota or scope never gets a body
 * read.
 */
@Injectable()
export class JsonBodyInterceptor extends AsyncInterceptor {
  constructor(private readonly settings: Settings) {
    super();
  }

  override concerns(handler: object): boolean {
    return Reflect.getMetadata(METHOD_METADATA, handler) !== RequestMethod.GET;
  }

  async around(context: ExecutionContext, next: () => Promise<unknown>): Promise<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    if (BODILESS.has(request.method)) return next();
    const consumption = CONSUMPTION.of(context);
    if (ignoresBodies(consumption)) return next();
    if (!announcesBody(request)) {
      keepRawBody(request, NO_BYTES);
      return next();
    }
    const response = http.getResponse<Response>();
    const rule = {
      types: consumption.types,
      limitBytes: consumption.limitBytes ?? this.settings.bodyLimitBytes,
    };
    if (consumption.isRead) {
      await read(request, response, consumption, rule.limitBytes);
      return next();
    }
    if (!takes(consumption, request.headers['content-type'])) throw unsupported(request, rule.types, []);
    limitBody(request, response, rule);
    try {
      return await next();
    } catch (error) {
      throw refusalOfMultipart(error);
    }
  }
}

/** Reads the whole body, for `@Body()` and `@RawBody()`. */
async function read(
  request: Request,
  response: Response,
  consumption: Consumption,
  limitBytes: number,
): Promise<void> {
  const { 'content-type': contentType, 'content-length': length } = request.headers;
  const { types, isParsed } = consumption;
  const isTaken = takes(consumption, contentType);
  // A chunked body may turn out to be empty; then it needs no type.
  if (!isTaken && length !== undefined) throw unsupported(request, types, CODINGS);
  const bytes = await readBody(request, response, { types, limitBytes });
  if (!isTaken && bytes.length > 0) throw unsupported(request, types, CODINGS);
  BODY_BYTES.set(request, bytes);
  keepRawBody(request, bytes);
  if (isParsed && (!isTaken || isJsonType(mediaTypeOf(contentType)))) request.body = parsed(bytes);
}

/** Keeps the bytes of a body under Nest's name for them, which `@RawBody()` and `RawBodyRequest` read. */
function keepRawBody(request: RawBodyRequest<Request>, bytes: Buffer): void {
  request.rawBody = bytes;
}

function parsed(bytes: Buffer): unknown {
  try {
    return parseExactJsonIfAny(UTF8.decode(bytes));
  } catch (error) {
    throw new ApiError(HTTP_ERRORS.malformed_json, { params: { reason: reasonOf(error) }, cause: error });
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return error.message.replace(/\.$/, '');
  return 'it is not UTF-8';
}

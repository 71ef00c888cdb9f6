import { type ExecutionContext, Injectable, RequestMethod } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import type { Request, Response } from 'express';
import { Settings } from '../../config/settings.js';
import { RequestSlot } from '../../request-slot.js';
import { ApiError } from '../../errors/api-error.js';
import { HTTP_ERRORS } from '../../errors/http.errors.js';
import { announcesBody } from '../adapter/unread-body.js';
import { AsyncInterceptor } from '../async.interceptor.js';
import { isJsonInUtf8 } from '../media-type.js';
import { readBody } from './body-reader.js';
import { parseExactJsonIfAny } from './exact-json.js';

const BODY_BYTES = new RequestSlot<Buffer>();

/** The body of a request as sent, once it has been read; empty without one. */
export function bodyBytesOf(request: Request): Buffer {
  return BODY_BYTES.get(request) ?? Buffer.alloc(0);
}

/** Throws for bytes that are not UTF-8. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });
const BODILESS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Reads and parses the JSON body. It is an interceptor because those run behind the guards: a caller without
 * a valid key, quota or scope never gets a body parsed.
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
    if (!BODILESS.has(request.method) && announcesBody(request)) {
      request.body = await this.parse(request, http.getResponse<Response>());
    }
    return next();
  }

  private async parse(request: Request, response: Response): Promise<unknown> {
    const { 'content-type': type, 'content-length': length } = request.headers;
    const isJson = isJsonInUtf8(type);
    // A chunked body may turn out to be empty; then it needs no type.
    if (!isJson && length !== undefined) throw new ApiError(HTTP_ERRORS.unsupported_media_type);
    const bytes = await readBody(request, response, this.settings.bodyLimitBytes);
    if (!isJson && bytes.length > 0) throw new ApiError(HTTP_ERRORS.unsupported_media_type);
    BODY_BYTES.set(request, bytes);
    try {
      return parseExactJsonIfAny(UTF8.decode(bytes));
    } catch (error) {
      throw new ApiError(HTTP_ERRORS.malformed_json, { params: { reason: reasonOf(error) }, cause: error });
    }
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return error.message.replace(/\.$/, '');
  return 'it is not UTF-8';
}

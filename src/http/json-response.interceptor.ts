import { Injectable, StreamableFile, type ExecutionContext } from '@nestjs/common';
import type { Response } from 'express';
import { JsonText } from '../database/json-text.js';
import { writeExactJson } from './exact-json.js';
import { PromisedInterceptor } from './promised.interceptor.js';

/** The type of whatever is answered as JSON. */
export const JSON_CONTENT_TYPE = 'application/json; charset=utf-8';

/** Writes what a handler answers as JSON, with every `bigint` exact; JSON.stringify would throw on one. */
@Injectable()
export class JsonResponseInterceptor extends PromisedInterceptor {
  async around(context: ExecutionContext, next: () => Promise<unknown>): Promise<unknown> {
    const body = await next();
    const response = context.switchToHttp().getResponse<Response>();
    if (body === undefined || body instanceof StreamableFile || response.headersSent) return body;
    if (response.hasHeader('Content-Type')) return body instanceof JsonText ? body.text : body;
    response.setHeader('Content-Type', JSON_CONTENT_TYPE);
    return body instanceof JsonText ? body.text : writeExactJson(body);
  }
}

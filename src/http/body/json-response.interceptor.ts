import { type ExecutionContext, Injectable, StreamableFile } from '@nestjs/common';
import { isStreamingBody } from '@nestjs/core/router/streaming-body.js';
import type { Response } from 'express';
import { JsonText } from '../../database/json-rows.js';
import { HandlerMetadata } from '../../handler-metadata.js';
import { declaredOperationOf } from '../adapter/declared-operation.js';
import { AsyncInterceptor } from '../async.interceptor.js';
import { writeExactJson } from './exact-json.js';
import { shownAs } from './shown-as.js';

/** The type of whatever is answered as JSON. */
export const JSON_CONTENT_TYPE = 'application/json; charset=utf-8';

/**
 * Writes what a handler answers as JSON, with every `bigint` exact; JSON.stringify would throw on one. Of objects it shows
 * what the DTO of `@Operation()` declares. What Nest sends as it is produced passes untouched.
 */
@Injectable()
export class JsonResponseInterceptor extends AsyncInterceptor {
  private readonly dto = new HandlerMetadata(([handler]) => declaredOperationOf(handler)?.shownAs);

  async around(context: ExecutionContext, next: () => Promise<unknown>): Promise<unknown> {
    const body = await next();
    const response = context.switchToHttp().getResponse<Response>();
    if (body === undefined || response.headersSent || isStreamed(body)) return body;
    if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', JSON_CONTENT_TYPE);
    // A handler that names another type writes its texts itself; of an object Nest would make JSON all the same.
    else if (typeof body !== 'object' || body === null) return body;
    return body instanceof JsonText ? body.text : writeExactJson(this.shown(context, body));
  }

  private shown(context: ExecutionContext, body: unknown): unknown {
    const dto = this.dto.of(context);
    return dto ? shownAs(dto, body) : body;
  }
}

/** Whether Nest sends it piece by piece: a file, a web Response, a stream or another async iterable. */
function isStreamed(body: unknown): boolean {
  return (
    typeof body === 'object' &&
    !(body instanceof JsonText) &&
    (body instanceof StreamableFile || isStreamingBody(body))
  );
}

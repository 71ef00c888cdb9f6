import { type HttpServer, StreamableFile } from '@nestjs/common';
import {
  isStreamingBody,
  isStreamingBodyConsumed,
  listenForStreamError,
} from '@nestjs/core/router/streaming-body.js';
import type { Request, Response } from 'express';
import { endTogether } from '../../core/ended-together.js';
import { JsonText } from '../../database/json-rows.js';
import { JSON_CONTENT_TYPE } from '../body/json-response.interceptor.js';
import type { OperationContext } from './operation-context.js';

/** Statuses whose responses have no body (RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5). */
const BODILESS = new Set([204, 205, 304]);

/**
 * Notes a streamed answer in the context and listens for its errors. A stream may fail while the interceptors still run, and an
 * `error` event without a listener would end the process. Returns the answer.
 */
export function held(answer: unknown, context: OperationContext): unknown {
  if (typeof answer !== 'object' || answer instanceof JsonText) return answer;
  if (!(answer instanceof StreamableFile || isStreamingBody(answer))) return answer;
  listenForStreamError(answer);
  (context.streams ??= []).push(answer);
  return answer;
}

/**
 * What is sent when the handler has answered a stream: as in Nest, also a stream in an object that an interceptor has put around
 * it, because an object cannot carry one.
 */
export function sentOf(answer: unknown, streams: readonly unknown[]): unknown {
  if (!isPlainObject(answer) || !streams.some(isStreamingBody)) return answer;
  const wrapped = Object.values(answer).find(isStreamingBody);
  return wrapped !== undefined && !isStreamingBodyConsumed(wrapped) ? wrapped : answer;
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/**
 * Sends the answer as Express does. Two kinds are written without Express's `send()`, which would change nothing of them: an
 * empty 304, and JSON in answer to a request without conditional header fields.
 */
export function write(request: Request, response: Response, body: unknown, adapter: HttpServer): void {
  // ConditionalGetInterceptor has already removed the headers that a 304 must not have.
  if (body === undefined && response.statusCode === 304) {
    endTogether(response);
  } else if (typeof body === 'string' && isPlainJson(request, response)) {
    response.setHeader('Content-Length', Buffer.byteLength(body));
    endTogether(response, body);
  } else {
    adapter.reply(response, body);
  }
}

/** Whether Express would send the body as it is: with the same status, the same headers, and in full. */
function isPlainJson({ headers }: Request, response: Response): boolean {
  return (
    !BODILESS.has(response.statusCode) &&
    response.getHeader('Content-Type') === JSON_CONTENT_TYPE &&
    !response.hasHeader('Transfer-Encoding') &&
    !('if-none-match' in headers || 'if-modified-since' in headers)
  );
}

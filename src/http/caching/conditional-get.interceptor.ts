import type { OutgoingHttpHeaders } from 'node:http';
import { type ExecutionContext, Injectable, Logger, RequestMethod, type Type } from '@nestjs/common';
import { INTERCEPTORS_METADATA, METHOD_METADATA } from '@nestjs/common/constants.js';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { SEEN_VERSIONS } from '../../auth/seen-versions.js';
import { JsonText } from '../../database/json-rows.js';
import { HandlerMetadata } from '../../core/handler-metadata.js';
import { COUNTED } from '../../throttling/quota-subject.js';
import { AsyncInterceptor } from '../async.interceptor.js';
import { JSON_CONTENT_TYPE, rowsAnswered } from '../body/json-response.interceptor.js';
import { declaredOperationOf } from '../adapter/declared-operation.js';
import { dependsOnTargetAlone, parametersOf } from '../adapter/handler-parameters.js';
import { OperationContext } from '../adapter/operation-context.js';
import { entityTag, writeRevalidated } from './entity-tag.js';
import { InterceptorsOfCached } from './interceptors-of-cached.js';
import {
  type Answer,
  type CachedOptions,
  ResponseCache,
  CACHED,
  CACHED_HEADERS,
  CONTENT_TYPE_ALONE,
} from './response-cache.js';

/** Methods of routes that GET and HEAD requests reach. */
const READING: ReadonlySet<RequestMethod> = new Set([
  RequestMethod.GET,
  RequestMethod.HEAD,
  RequestMethod.ALL,
]);

/**
 * Gives every text that GET or HEAD answers with 200 a strong `ETag`, and answers 304 to a client that sends the same tag in
 * `If-None-Match` (RFC 9110 section 13.1.2). An answer whose handler sets `Cache-Control` passes unchanged. The answer of a
 * `@Cached()` operation is cached together with its tag. A handler may set an `ETag` of its own.
 */
@Injectable()
export class ConditionalGetInterceptor extends AsyncInterceptor {
  private readonly logger = new Logger('Cache');
  private readonly cached;

  constructor(
    private readonly cache: ResponseCache,
    private readonly interceptors: InterceptorsOfCached,
    reflector: Reflector,
  ) {
    super();
    this.cached = new HandlerMetadata((targets) => {
      const options = reflector.get<CachedOptions | undefined>(CACHED, targets[0]);
      if (!options) return undefined;
      if (targets.some((target) => Reflect.hasMetadata(INTERCEPTORS_METADATA, target))) return undefined;
      return this.dependsOnTargetAlone(...targets) ? options : undefined;
    });
  }

  override concerns(handler: object): boolean {
    return READING.has(Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod);
  }

  async around(context: ExecutionContext, next: () => Promise<unknown>): Promise<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    if (request.method !== 'GET' && request.method !== 'HEAD') return next();
    const response = http.getResponse<Response>();
    const { body, headers, tag } = await this.answerOf(context, request, response, next);
    if (tag === undefined) return body;
    // An answer from the cache was read for another request, whose response got its headers.
    for (const [name, value] of headers) response.setHeader(name, value);
    if (!writeRevalidated(request, response, tag)) return body;
    response.removeHeader('Content-Type');
    return undefined;
  }

  /** Whether the parameters of a handler depend on the request target alone; otherwise its answer may be one caller's own. */
  private dependsOnTargetAlone(handler: object, controller: object): boolean {
    const method = declaredOperationOf(handler)?.method;
    if (method !== undefined && parametersOf(controller as Type, method).every(dependsOnTargetAlone))
      return true;
    const name = `${(controller as Type).name}.${method ?? ''}`;
    this.logger.warn(
      `The answers of ${name} are not cached, although it is @Cached(): a parameter may depend on more than the request target.`,
    );
    return false;
  }

  private answerOf(
    context: ExecutionContext,
    request: Request,
    response: Response,
    next: () => Promise<unknown>,
  ): Promise<Answer> {
    const cached = this.cached.of(context);
    const { ofRowsAlone = false } = cached ?? {};
    const read = () => answerBy(response, next, ofRowsAlone);
    if (!cached || request.method !== 'GET') return read();
    // A request that passes no quota has no version of its own.
    if (this.cache.needsDecision && !COUNTED.get(request)) return read();
    // Where they come with the decision on the quota, those of the key are older.
    const seen = this.cache.needsDecision ? undefined : SEEN_VERSIONS.get(request);
    const answer = (operation: () => Promise<Answer>) =>
      this.cache.answer(request.originalUrl, operation, seen);
    if (this.interceptors.changingAnswers().length > 0) {
      // What the handler answers may be cached all the same, where something can take the handler's place.
      if (context instanceof OperationContext)
        context.aroundHandler = (handler) =>
          answerOfHandler(answer, response, () => answerByHandler(response, handler, ofRowsAlone));
      return read();
    }
    const through = this.interceptors.of(context);
    return through ? throughInterceptors(answer, read, through) : answer(read);
  }
}

/** Answers from the cache, or by an operation. */
type Cached = (operation: () => Promise<Answer>) => Promise<Answer>;

/** What the handler answers, or has answered for another request to this target: interceptors run around it each time. */
async function answerOfHandler(
  cached: Cached,
  response: Response,
  handler: () => Promise<Answer>,
): Promise<unknown> {
  let isRead = false;
  const { body, headers } = await cached(() => {
    isRead = true;
    return handler();
  });
  if (!isRead) for (const [name, value] of headers) response.setHeader(name, value);
  return body;
}

/** The answer of the operation, or one from the cache once interceptors have run for it. */
async function throughInterceptors(
  cached: Cached,
  read: () => Promise<Answer>,
  through: (body: unknown) => Promise<unknown>,
): Promise<Answer> {
  let isRead = false;
  const answer = await cached(() => {
    isRead = true;
    return read();
  });
  if (!isRead) await through(answer.body);
  return answer;
}

/** What a handler answers, and the headers that it has set. Only JsonText is cached, since nothing can change it afterwards. */
async function answerByHandler(
  response: Response,
  handler: () => unknown,
  ofRowsAlone: boolean,
): Promise<Answer> {
  const before = response.getHeaders();
  const body = await handler();
  const isCacheable =
    body instanceof JsonText && response.statusCode === 200 && !response.hasHeader('Cache-Control');
  if (!isCacheable) return { body, headers: [], tag: undefined };
  return {
    body: Object.freeze(body),
    headers: headersSet(response, before),
    tag: 'of the handler',
    outlastsNewRows: ofRowsAlone && body.outlastsNewRows,
  };
}

/** The headers that differ from those before. */
function headersSet(response: Response, before: OutgoingHttpHeaders): Answer['headers'] {
  return response
    .getHeaderNames()
    .filter((name) => response.getHeader(name) !== before[name])
    .map((name) => [CACHED_HEADERS.get(name) ?? name, response.getHeader(name) ?? ''] as const);
}

/** The same headers, in one list for all answers that have no others. */
function sharedWhereAlike(headers: Answer['headers']): Answer['headers'] {
  const [[name, value] = []] = headers;
  const isAlike = headers.length === 1 && name === 'Content-Type' && value === JSON_CONTENT_TYPE;
  return isAlike ? CONTENT_TYPE_ALONE : headers;
}

/** The answer of the operation, and the headers that it has set. */
async function answerBy(
  response: Response,
  next: () => Promise<unknown>,
  ofRowsAlone: boolean,
): Promise<Answer> {
  const before = response.getHeaders();
  const body = await next();
  if (typeof body !== 'string' || response.statusCode !== 200 || response.hasHeader('Cache-Control'))
    return { body, headers: [], tag: undefined };
  const set = headersSet(response, before).filter(([name]) => name.toLowerCase() !== 'etag');
  const headers = sharedWhereAlike(set);
  // An interceptor of the platform's may have written another text around what was read.
  const outlastsNewRows = ofRowsAlone && rowsAnswered(response)?.text === body;
  const own = response.getHeader('ETag');
  if (own !== undefined) return { body, headers, tag: String(own), outlastsNewRows };
  // Of the links only those that the handler has set: the state of a resource has one tag, whichever operation answers it.
  const link = response.getHeader('Link');
  return {
    body,
    headers,
    tag: entityTag(body, link === before['link'] ? '' : String(link)),
    outlastsNewRows,
  };
}

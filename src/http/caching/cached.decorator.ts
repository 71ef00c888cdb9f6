import type { OutgoingHttpHeader } from 'node:http';
import { Logger, Req, type Type } from '@nestjs/common';
import type { Request, Response } from 'express';
import { declarationFault, decorated } from '../../core/declaration-faults.js';
import { type Handler, replaceHandler } from '../../core/handler-metadata.js';
import { JsonText } from '../../database/json-rows.js';
import { dependsOnTargetAlone, parametersOf } from '../adapter/handler-parameters.js';
import type { Answer, ResponseCache } from './response-cache.js';

/** Metadata key of `@Cached()`. */
export const CACHED = 'petstore:cached';

/** A handler with `@Cached()`. */
export interface CachedHandler {
  /** The handler as it was written, which reads what it answers. */
  readonly handler: Handler;
  /** Answers a request from the cache, or by a call of the handler. */
  readonly answer: (request: Request, call: () => unknown) => unknown;
}

/** What `@Cached()` has made of a handler; undefined for any other. */
export function cachedHandlerOf(handler: object): CachedHandler | undefined {
  return Reflect.getMetadata(CACHED, handler) as CachedHandler | undefined;
}
/** The setting of the Express application that holds its cache. */
const SETTING = 'response cache';
/**
 * The one header that a handler with a cached answer may set, in lower case: its value depends on the target alone. An answer with
 * any other, such as Set-Cookie, belongs to its request.
 */
const CACHED_HEADER = 'link';
/** Of the answers that set none, which stay in the cache for long: one for all of them. */
const NO_HEADERS: Answer['headers'] = [];

/** What the answers of an operation depend on. */
export interface CachedOptions {
  /**
   * The answer is what `JsonRows` has read, as it stands, and depends on nothing else of the database: not on other rows, and not on
   * whether there are any. Then a new row voids no answer that shows one row, and no page, in the order of the id, that another
   * follows; and where instances share a Redis, no write to another table does. Default: false.
   */
  readonly ofRowsAlone?: boolean;
}

/** Gives an Express application the cache of its `@Cached()` handlers. */
export function useResponseCache(
  application: { set(name: string, value: ResponseCache): unknown },
  cache: ResponseCache,
): void {
  application.set(SETTING, cache);
}

/**
 * Caches the JsonText that a GET handler answers until anything is committed to the database that may change it. Only for a handler
 * whose answer depends on the request target and the database alone: not on the caller, the time or another service. Guards,
 * interceptors, pipes, keys, scopes, quotas, headers, logs and metrics are as without it. An answer is not cached when the handler
 * sets another header than `Link`, or another status than 200. A parameter that may depend on more than the target, such as
 * `@CurrentClient()`, stops the start.
 */
export function Cached({ ofRowsAlone = false }: CachedOptions = {}): MethodDecorator {
  return (prototype, method, descriptor: PropertyDescriptor) => {
    const name = `${decorated(prototype)}.${String(method)}`;
    const parameters = parametersOf(prototype.constructor as Type, String(method));
    if (!parameters.every(dependsOnTargetAlone))
      declarationFault(
        `${name}: it is @Cached(), but a parameter may depend on more than the request target. Remove one of them.`,
      );
    // The request, behind the parameters of the handler.
    const last = Math.max(-1, ...parameters.map(({ index }) => index)) + 1;
    Req()(prototype, method, last);
    let isTold = false;
    const answer = (request: Request, call: () => unknown): unknown => {
      const cache = cacheFor(request);
      if (!cache) return call();
      return cached(cache, request, async () => {
        const read = await answerBy(request.res as Response, call, ofRowsAlone);
        if (!isTold && !(read.body instanceof JsonText)) {
          isTold = true;
          logger.warn(`What ${name} answers is not cached, although it is @Cached(): it is no JsonText.`);
        }
        return read;
      });
    };
    const handler = descriptor.value as Handler;
    replaceHandler(
      descriptor,
      () =>
        function (...args) {
          return answer(args[last] as Request, () => handler.apply(this, args.slice(0, last)));
        },
    );
    Reflect.defineMetadata(CACHED, { handler, answer } satisfies CachedHandler, descriptor.value as object);
  };
}

const logger = new Logger('Cache');

/** The cache that a request may be answered from; undefined when there is none for it. */
function cacheFor({ app, method }: Request): ResponseCache | undefined {
  return method === 'GET' ? (app.get(SETTING) as ResponseCache | undefined) : undefined;
}

function cached(cache: ResponseCache, request: Request, read: () => Promise<Answer>): unknown {
  // A request that passes no quota has no version of its own.
  if (cache.needsDecision && !request.isCounted) return read().then(({ body }) => body);
  // Where they come with the decision on the quota, those of the key are older.
  const seen = cache.needsDecision ? undefined : request.seenVersions;
  let isRead = false;
  const given = ({ body, headers }: Answer): unknown => {
    // It was read for another request, whose response got its headers.
    if (!isRead) for (const [name, value] of headers) request.res?.setHeader(name, value);
    return body;
  };
  const reading = (): Promise<Answer> => {
    isRead = true;
    return read();
  };
  const answer = cache.answer(request.originalUrl, reading, seen);
  return answer instanceof Promise ? answer.then(given) : given(answer);
}

/** What a handler answers, and the headers that it has set. */
async function answerBy(response: Response, handler: () => unknown, ofRowsAlone: boolean): Promise<Answer> {
  const before = response.getHeaders();
  const body = await handler();
  const headers: [name: string, value: OutgoingHttpHeader][] = [];
  let isOfTarget = true;
  for (const name of response.getHeaderNames()) {
    const value = response.getHeader(name);
    if (value === undefined || value === before[name]) continue;
    headers.push([name === CACHED_HEADER ? 'Link' : name, value]);
    isOfTarget &&= name === CACHED_HEADER;
  }
  return {
    body,
    headers: headers.length > 0 ? headers : NO_HEADERS,
    isCacheable: isOfTarget && body instanceof JsonText && response.statusCode === 200,
    outlastsNewRows: ofRowsAlone && body instanceof JsonText && body.outlastsNewRows,
    table: ofRowsAlone && body instanceof JsonText ? body.table : undefined,
  };
}

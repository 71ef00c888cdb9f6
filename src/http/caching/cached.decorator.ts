import type { OutgoingHttpHeader } from 'node:http';
import { Logger, type Type, UseGuards } from '@nestjs/common';
import type { Response } from 'express';
import { declarationFault, decorated } from '../../core/declaration-faults.js';
import { JsonText } from '../../database/json-rows.js';
import { dependsOnTargetAlone, parametersOf, withRequest } from '../adapter/handler-parameters.js';
import { CachedGuard } from './cached.guard.js';
import type { Answer } from './response-cache.js';

/** Metadata key of `@Cached()`. */
export const CACHED = 'petstore:cached';

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
    let isTold = false;
    withRequest(prototype, method, descriptor, (request, handler) => {
      if (!request.cached) return handler();
      return request.cached(async () => {
        const read = await answerBy(request.res as Response, handler, ofRowsAlone);
        if (!isTold && !(read.body instanceof JsonText)) {
          isTold = true;
          logger.warn(`What ${name} answers is not cached, although it is @Cached(): it is no JsonText.`);
        }
        return read;
      });
    });
    UseGuards(CachedGuard)(prototype, method, descriptor);
    Reflect.defineMetadata(CACHED, true, descriptor.value as object);
  };
}

const logger = new Logger('Cache');

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

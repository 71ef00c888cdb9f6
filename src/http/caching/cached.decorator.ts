import { Logger, type Type, UseGuards } from '@nestjs/common';
import type { Response } from 'express';
import { declarationFault, decorated } from '../../core/declaration-faults.js';
import { JsonText } from '../../database/json-rows.js';
import { dependsOnTargetAlone, parametersOf, withRequest } from '../adapter/handler-parameters.js';
import { CachedGuard } from './cached.guard.js';
import type { Answer } from './response-cache.js';

/** Metadata key of `@Cached()`. */
export const CACHED = 'petstore:cached';

/** What the responses of an operation depend on. */
export interface CachedOptions {
  /**
   * The response is what `JsonRows` has read, as it is, and depends on nothing else of the database: not on other rows, and not on
   * whether there are any. Then a new row voids no response that shows one row, and no page, in the order of the id, that another
   * follows; and where instances share a Redis, no write to another table does. Default: false.
   */
  readonly ofRowsAlone?: boolean;
}

/**
 * Caches the JsonText that a GET handler answers until anything is committed to the database that may change it. Only for a handler
 * whose answer depends on the request target and the database alone: not on the caller, the time or another service. Guards,
 * interceptors, pipes, keys, scopes, quotas, headers, logs and metrics are as without it. A response is not cached when the handler
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

/**
 * What a handler answers. It is cached unless the handler has set another header than `Link`, whose value depends on the target alone: an
 * answer with any other, such as Set-Cookie, belongs to its request.
 */
async function answerBy(response: Response, handler: () => unknown, ofRowsAlone: boolean): Promise<Answer> {
  const before = response.getHeaders();
  const body = await handler();
  const link = response.getHeader('link');
  const isOfTarget = response
    .getHeaderNames()
    .every((name) => name === 'link' || response.getHeader(name) === before[name]);
  const text = body instanceof JsonText ? body : undefined;
  return {
    body,
    link: link === before['link'] ? undefined : link,
    isCacheable: isOfTarget && text !== undefined && response.statusCode === 200,
    outlastsNewRows: ofRowsAlone && text?.outlastsNewRows === true,
    table: ofRowsAlone ? text?.table : undefined,
  };
}

import { Logger, type Type, UseGuards } from '@nestjs/common';
import type { Response } from 'express';
import { declarationFault, decorated } from '../../core/declaration-faults.js';
import { JsonText } from '../../database/json-rows.js';
import { dependsOnTargetAlone, parametersOf, withRequest } from '../adapter/handler-parameters.js';
import { CachedGuard } from './cached.guard.js';
import type { Answer } from './response-cache.js';

/** Metadata key of `@Cached()`. */
export const CACHED = 'petstore:cached';

/** Dependencies of an operation's responses. */
export interface CachedOptions {
  /**
   * The response is what `JsonRows` has read, as it is, and depends on nothing else of the database: not on other rows, and not on
   * whether there are any. Then a new row does not invalidate a response with one row, or a page, in the order of the id, that another
   * follows; and if instances share a Redis, writes to other tables do not either. Default: false.
   */
  readonly ofRowsAlone?: boolean;
}

/**
 * Caches the JsonText that a GET handler returns until a commit to the database may change it. Only for a handler
 * whose result depends only on the request target and the database: not on the caller, the time or another service. Guards,
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
        `${name}: it is @Cached(), but a parameter may depend on more than the request target. Remove the parameter or @Cached().`,
      );
    let isTold = false;
    withRequest(prototype, method, descriptor, (request, handler) => {
      if (!request.cached) return handler();
      return request.cached(async () => {
        const read = await answerBy(request.res as Response, handler, ofRowsAlone);
        if (!isTold && !(read.body instanceof JsonText)) {
          isTold = true;
          logger.warn(`The result of ${name} is not cached, although it is @Cached(): it is not a JsonText.`);
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
 * The result of a handler. It is cached unless the handler has set another header than `Link`, whose value depends only on the target: a
 * response with any other, such as Set-Cookie, belongs to its request.
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

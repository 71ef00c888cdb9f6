import {
  type CanActivate,
  type ExecutionContext,
  Injectable,
  Logger,
  type Type,
  UseGuards,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { declarationFault, decorated } from '../../core/declaration-faults.js';
import { declareOperation } from '../../core/declared-operation.js';
import type { Versions } from '../../database/data-version.js';
import { JsonText } from '../../database/json-rows.js';
import { dependsOnTargetAlone, parametersOf, withRequest } from '../operations/handler-parameters.js';
import { type CachedResult, ResponseCache } from './response-cache.js';
import { EarlyResponses } from '../replies/early-response.js';

/** Dependencies of an operation's responses. */
export interface CachedOptions {
  /**
   * The response is what `JsonRows` has read, as it is, and depends on nothing else of the database: not on other rows, and not on
   * whether there are any. Then, on SQLite, a new row does not invalidate a response with one row, or a page, in the order of the
   * id, that another follows. Default: false.
   */
  readonly ofRowsAlone?: boolean;
}

/**
 * Caches the JsonText that a GET handler returns until a commit to the database may change it. Only for a handler
 * whose result depends only on the request target and the database: not on the caller, the time or another service; on PostgreSQL a
 * response may show a sequence, a foreign table or a setting of the server as it was up to 5 s ago. Guards,
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
    declareOperation(descriptor.value as object, { isCached: true });
  };
}

const logger = new Logger('Cache');

/**
 * The result of a handler. It is cached unless the handler has set another header than `Link`, whose value depends only on the target: a
 * response with any other, such as Set-Cookie, belongs to its request.
 */
async function answerBy(
  response: Response,
  handler: () => unknown,
  ofRowsAlone: boolean,
): Promise<CachedResult> {
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
  };
}

/** Responds to a request of a `@Cached()` handler from the cache; otherwise notes how to cache the handler's result. */
@Injectable()
class CachedGuard implements CanActivate {
  constructor(
    private readonly cache: ResponseCache,
    private readonly early: EarlyResponses,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const { method, originalUrl } = context.getArgByIndex<Request>(0);
    if (method !== 'GET') return true;
    // Asked for once: those of a moment before the handler reads hold for what it reads, too.
    const versions = this.cache.versionsFor(originalUrl);
    return versions instanceof Promise
      ? versions.then((known) => this.respond(context, known))
      : this.respond(context, versions);
  }

  private respond(context: ExecutionContext, versions: Versions): boolean | Promise<boolean> {
    const { cache } = this;
    const request = context.getArgByIndex<Request>(0);
    const { originalUrl } = request;
    const found = this.early.areOpenTo(CachedGuard, context) ? cache.find(originalUrl, versions) : undefined;
    if (found) return this.early.send(context, bodyFor(request, found));
    request.cached = (read) => {
      let isRead = false;
      const reading = (): Promise<CachedResult> => {
        isRead = true;
        return read();
      };
      const given = (answer: CachedResult): unknown => (isRead ? answer.body : bodyFor(request, answer));
      const answer = cache.answer(originalUrl, reading, versions);
      return answer instanceof Promise ? answer.then(given) : given(answer);
    };
    return true;
  }
}

/** The body of a response that was read for another request, whose response got its `Link`. */
function bodyFor({ res }: Request, { body, link }: CachedResult): unknown {
  if (link !== undefined) res?.setHeader('Link', link);
  return body;
}

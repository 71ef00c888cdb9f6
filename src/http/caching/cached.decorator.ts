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
import { dependsOnTargetAlone, parametersOf, wrapHandler } from '../operations/handler-parameters.js';
import { EarlyResponses } from '../replies/early-response.js';
import { ResponseCache } from './response-cache.js';

/** Dependencies of an operation's responses. */
export interface CachedOptions {
  /**
   * The response is what `JsonRows` has read, as it is, and depends on nothing else of the database: not on other rows, and not on
   * whether there are any. Then, on SQLite, a new row does not invalidate a response with one row, or a page, in the order of the
   * id, that another follows. Default: false.
   */
  readonly rowsOnly?: boolean;
}

/**
 * Caches the JsonText that a GET handler returns until a commit to the database may change it. Only for a handler
 * whose result depends only on the request target and the database: not on the caller, the time or another service; on PostgreSQL a
 * response may show a sequence, a foreign table or a setting of the server as it was up to 5 s ago. Guards,
 * interceptors, pipes, keys, scopes, quotas, headers, logs and metrics are as without it. A response is not cached when the handler
 * sets another header than `Link`, or another status than 200. A parameter that may depend on more than the target, such as
 * `@CurrentCaller()`, stops the start.
 */
export function Cached({ rowsOnly = false }: CachedOptions = {}): MethodDecorator {
  return (prototype, method, descriptor: PropertyDescriptor) => {
    const name = `${decorated(prototype)}.${String(method)}`;
    const parameters = parametersOf(prototype.constructor as Type, String(method));
    if (!parameters.every(dependsOnTargetAlone))
      declarationFault(
        `${name}: it is @Cached(), but a parameter may depend on more than the request target. Remove the parameter or @Cached().`,
      );
    let isLogged = false;
    wrapHandler(prototype, method, descriptor, async ({ cached, res }, handler) => {
      if (!cached) return handler();
      const body = await cached.in.wrap(res as Response, cached.versions, handler, rowsOnly);
      if (!isLogged && !(body instanceof JsonText)) {
        isLogged = true;
        logger.warn(`The result of ${name} is not cached, although it is @Cached(): it is not a JsonText.`);
      }
      return body;
    });
    UseGuards(CachedGuard)(prototype, method, descriptor);
    declareOperation(descriptor.value as object, { isCached: true });
  };
}

const logger = new Logger('Cache');

/** Responds to a request of a `@Cached()` handler from the cache, past the pipes; otherwise notes the cache for the handler. */
@Injectable()
class CachedGuard implements CanActivate {
  constructor(
    private readonly cache: ResponseCache,
    private readonly early: EarlyResponses,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const { method, originalUrl } = context.getArgByIndex<Request>(0);
    if (method !== 'GET') return true;
    // Requested once: versions from just before the handler reads are also valid for what it reads.
    const versions = this.cache.versionsFor(originalUrl);
    return versions instanceof Promise
      ? versions.then((known) => this.respond(context, known))
      : this.respond(context, versions);
  }

  private respond(context: ExecutionContext, versions: Versions): boolean | Promise<boolean> {
    const [request, response] = context.getArgs<[Request, Response]>();
    if (this.early.areBypassable(CachedGuard, context)) {
      const body = this.cache.find(response, versions);
      if (body) return this.early.send(context, body);
    }
    request.cached = { in: this.cache, versions };
    return true;
  }
}

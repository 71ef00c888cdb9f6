import {
  type CanActivate,
  type ExecutionContext,
  Injectable,
  Logger,
  type Type,
  UseGuards,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { invalidDeclaration, decorated } from '../../core/declaration-errors.js';
import { declareOperation } from '../../core/declared-operation.js';
import type { Versions } from '../../database/data-version.js';
import { JsonText } from '../../database/json-rows.js';
import { dependsOnTargetAlone, parametersOf, wrapHandler } from '../operations/handler-parameters.js';
import { EarlyResponses } from '../replies/early-response.js';
import { ResponseCache } from './response-cache.js';

/** Dependencies of an operation's responses. */
export interface CachedOptions {
  /**
   * The response is the unchanged result of `JsonRows` and depends on nothing else in the database: neither on other rows nor on their
   * absence. On SQLite, a new row then does not invalidate a response with a single row, or a page sorted by id that is followed by
   * another. Default: false.
   */
  readonly rowsOnly?: boolean;
}

/**
 * Caches the JsonText returned by a GET handler until a commit to the database may change it. Use it only if the result depends solely on
 * the request target and the database: not on the caller, the time or another service. On PostgreSQL, a response may show a sequence, a
 * foreign table or a server setting as it was up to 5 s ago. Guards, interceptors, pipes, keys, scopes, quotas, headers, logs and metrics
 * work as usual. A response is not cached if the handler sets a header other than `Link`, or a status other than 200. The service does not
 * start if a parameter may depend on more than the target, such as `@CurrentCaller()`.
 */
export function Cached({ rowsOnly = false }: CachedOptions = {}): MethodDecorator {
  return (prototype, method, descriptor: PropertyDescriptor) => {
    const name = `${decorated(prototype)}.${String(method)}`;
    const parameters = parametersOf(prototype.constructor as Type, String(method));
    if (!parameters.every(dependsOnTargetAlone))
      invalidDeclaration(
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

/**
 * Responds to a request of a `@Cached()` handler from the cache, skipping the pipes; otherwise attaches the cache to the request for the
 * handler.
 */
@Injectable()
class CachedGuard implements CanActivate {
  constructor(
    private readonly cache: ResponseCache,
    private readonly early: EarlyResponses,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const { method, originalUrl } = context.getArgByIndex<Request>(0);
    if (method !== 'GET') return true;
    // Read once, because versions from just before the handler's read are also valid for its result.
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

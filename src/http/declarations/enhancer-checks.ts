import { Logger, type Type } from '@nestjs/common';
import { GUARDS_METADATA, INTERCEPTORS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { ApplicationConfig } from '@nestjs/core';
import { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import { ThrottlerGuard } from '@nestjs/throttler';
import { invalidDeclaration } from '../../core/declaration-errors.js';
import { declaredOn } from '../../core/declared-operation.js';
import { QuotaGuard } from '../../throttling/quota.guard.js';
import type { RegisteredOperation } from '../operations/registered-operation.js';
import { ErrorFilter } from '../replies/error.filter.js';

const logger = new Logger('Start');

/** Parameters whose values are in the request target. */
const OF_TARGET: ReadonlySet<unknown> = new Set([RouteParamtypes.QUERY, RouteParamtypes.PARAM]);

/** Checks the guards and interceptors of all requests. */
export function checkGlobalEnhancers(config: ApplicationConfig): void {
  for (const guard of [...config.getGlobalGuards(), ...config.getGlobalRequestGuards()]) {
    const error = throttlerError(classOf(guard));
    if (error !== undefined) invalidDeclaration(error);
  }
  for (const part of [...config.getGlobalInterceptors(), ...config.getGlobalRequestInterceptors()]) {
    const { name } = classOf(part);
    if (cacheInterceptorOf(classOf(part)))
      invalidDeclaration(
        `${name} for all requests would send a client the responses of other clients, and pages without their Link. ` +
          'Remove it; use @UseInterceptors() on a route, or @Cached().',
      );
  }
}

/** Warns of global filters whose errors are not in the OpenAPI documents. */
export function warnOfFilters(config: ApplicationConfig): void {
  for (const filter of [...config.getGlobalFilters(), ...config.getGlobalRequestFilters()]) {
    const type = classOf(filter);
    if (type === ErrorFilter || declaredOn(type).errors) continue;
    logger.warn(
      `${type.name}: the OpenAPI documents do not describe the errors that this global filter sends. ` +
        'Declare them with @ApiErrors() on the filter and on the controllers whose exceptions it handles.',
    );
  }
}

/** Checks the guards and interceptors of one handler and its controller. */
export function checkEnhancers(
  { name, controller, handler, parameters }: RegisteredOperation,
  isOfRequest: boolean,
): void {
  const error = (text: string) => invalidDeclaration(`${name}: ${text}`);
  const classesOf = (key: string): Type[] =>
    [handler, controller].flatMap((target) =>
      ((Reflect.getMetadata(key, target) ?? []) as readonly object[]).map(classOf),
    );
  for (const guard of classesOf(GUARDS_METADATA)) {
    const text = throttlerError(guard);
    if (text !== undefined) error(text);
  }
  const isOfTarget = !isOfRequest && parameters.every(({ kind }) => OF_TARGET.has(kind));
  for (const part of classesOf(INTERCEPTORS_METADATA)) {
    const stock = cacheInterceptorOf(part);
    if (stock && !isOfTarget && trackByOf(part) === trackByOf(stock))
      error(
        `${part.name} uses only the URL as the key of its stored response, but the response may depend on more, such as the client. ` +
          'Override trackBy() in a subclass, with a key that includes the client, or remove it.',
      );
  }
}

function throttlerError(guard: Type): string | undefined {
  if (!(guard.prototype instanceof ThrottlerGuard || guard === ThrottlerGuard)) return undefined;
  if (guard.prototype instanceof QuotaGuard || guard === QuotaGuard) return undefined;
  return (
    `${guard.name} would count requests a second time, and contradict their rate-limit headers. ` +
    'Remove it; limit a route with @Throttle({ minute: { limit, ttl } }).'
  );
}

/** The class if it is, or extends, CacheInterceptor of @nestjs/cache-manager, which is not a dependency. */
function cacheInterceptorOf(type: Type): Type | undefined {
  const parent = Object.getPrototypeOf(type) as Type;
  if (type.name === 'CacheInterceptor' && trackByOf(type) !== undefined) return type;
  return parent === Function.prototype || parent === null ? undefined : cacheInterceptorOf(parent);
}

function trackByOf({ prototype }: Type): unknown {
  return (prototype as { readonly trackBy?: unknown } | undefined)?.trackBy;
}

/** The class of an enhancer, which is registered as a class or an instance, or created per request. */
function classOf(part: object): Type {
  if (part instanceof InstanceWrapper) return part.metatype as Type;
  return (typeof part === 'function' ? part : part.constructor) as Type;
}

import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { ifMatchNeedOf } from '../caching/precondition.guard.js';
import { ApiError } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { HandlerMetadata } from '../../core/handler-metadata.js';
import { UnmatchedRoutes } from '../adapter/unmatched-routes.js';
import { requestOf } from '../../core/request-protocol.js';
import { IDEMPOTENT } from './idempotent.decorator.js';

/** Methods that change a resource. */
const CHANGING: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/**
 * Refuses a request that changes something and asks for a safety that its handler does not give: an `If-Match` with tags, or an
 * `If-None-Match` of what exists, without `@IfMatch()`, and the `Idempotency-Key` of a POST without `@Idempotent()`.
 */
@Injectable()
export class IgnoredHeadersGuard implements CanActivate {
  private readonly heeds = new HandlerMetadata(([handler]) => ({
    ifMatch: ifMatchNeedOf(handler) !== undefined,
    idempotencyKey: Reflect.hasMetadata(IDEMPOTENT, handler),
  }));

  canActivate(context: ExecutionContext): boolean {
    const request = requestOf(context);
    if (!request || !CHANGING.has(request.method) || context.getClass() === UnmatchedRoutes) return true;
    const { method, headers } = request;
    const heeds = this.heeds.of(context);
    if (method === 'POST' && 'idempotency-key' in headers && !heeds.idempotencyKey) throw notSupported();
    const ifMatch = headers['if-match'];
    // `*` needs no tag (RFC 9110 section 13.1.1): what is not there is 404, unless a PUT creates it.
    const holds =
      (ifMatch === undefined || (ifMatch === '*' && method !== 'PUT')) &&
      (method === 'POST' || headers['if-none-match'] === undefined);
    if (!holds && !heeds.ifMatch) throw new ApiError(HTTP_ERRORS.precondition_failed);
    return true;
  }
}

function notSupported(): ApiError {
  const message =
    'This operation does not take one: a repeated request is carried out again. Send it without it.';
  return new ApiError(HTTP_ERRORS.validation_failed, {
    details: [{ field: 'Idempotency-Key', code: 'not_supported', message }],
  });
}

import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { HEADERS_METADATA, SSE_METADATA } from '@nestjs/common/constants.js';
import type { Request } from 'express';
import { ApiError } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { HandlerMetadata, requestOf } from '../../core/execution-context.js';
import { UnmatchedRoutes } from './unmatched-routes.js';
import { ifMatchNeedOf } from '../replies/precondition.guard.js';
import { IDEMPOTENT } from '../idempotency/idempotent.decorator.js';
import { accepts } from '../../core/media-type.js';

/** Longest request target, in characters; RFC 9110 section 4.1 recommends supporting at least 8,000 octets. */
const LIMIT = 8_192;

const JSON_TYPE = 'application/json';

/** Methods that change a resource. */
const CHANGING: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** The type of the responses of a handler, and the headers that it reads. */
const HEEDED = new HandlerMetadata(([handler]) => ({
  type: typeOf(handler),
  ifMatch: ifMatchNeedOf(handler) !== undefined,
  idempotencyKey: Reflect.hasMetadata(IDEMPOTENT, handler),
}));

/**
 * Refuses targets that are too long, an `Accept` that excludes the type of the response, and a request that changes something and has
 * a header that its handler would ignore.
 */
@Injectable()
export class RequestHeadGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = requestOf(context);
    if (!request) return true;
    if (request.originalUrl.length > LIMIT)
      throw new ApiError(HTTP_ERRORS.uri_too_long, { params: { limit: LIMIT } });
    const { accept } = request.headers;
    const isChange = CHANGING.has(request.method);
    if ((accept === undefined && !isChange) || context.getClass() === UnmatchedRoutes) return true;
    const heeded = HEEDED.of(context);
    if (accept !== undefined && !accepts(accept, heeded.type))
      throw new ApiError(HTTP_ERRORS.not_acceptable, { params: { type: heeded.type } });
    if (isChange) refuseIgnored(request, heeded);
    return true;
  }
}

function typeOf(handler: object): string {
  if (Reflect.hasMetadata(SSE_METADATA, handler)) return 'text/event-stream';
  const headers = Reflect.getMetadata(HEADERS_METADATA, handler) as
    { name: string; value: string | (() => string) }[] | undefined;
  const own = headers?.find(({ name }) => name.toLowerCase() === 'content-type')?.value;
  const type = typeof own === 'function' ? own() : own;
  return type?.split(';', 1)[0]?.trim().toLowerCase() ?? JSON_TYPE;
}

/**
 * Refuses an `If-Match` with tags, or an `If-None-Match` of what exists, without `@IfMatch()`, and the `Idempotency-Key` of a POST
 * without `@Idempotent()`.
 */
function refuseIgnored({ method, headers }: Request, heeded: ReturnType<typeof HEEDED.of>): void {
  if (method === 'POST' && 'idempotency-key' in headers && !heeded.idempotencyKey) {
    const message = 'This operation does not accept one: a retry would be carried out again. Omit it.';
    throw new ApiError(HTTP_ERRORS.validation_failed, {
      details: [{ field: 'Idempotency-Key', code: 'not_supported', message }],
    });
  }
  const ifMatch = headers['if-match'];
  // `*` needs no tag (RFC 9110 section 13.1.1): a missing resource is 404, unless a PUT creates it.
  const holds =
    (ifMatch === undefined || (ifMatch === '*' && method !== 'PUT')) &&
    (method === 'POST' || headers['if-none-match'] === undefined);
  if (!holds && !heeded.ifMatch) throw new ApiError(HTTP_ERRORS.precondition_failed);
}

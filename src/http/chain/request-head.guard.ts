import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { ApiError } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import type { DeclaredOperation } from '../../core/declared-operation.js';
import { requestOf } from '../../core/execution-context.js';
import { OPERATIONS } from '../operations/registered-operation.js';
import { UnmatchedRoutes } from './unmatched-routes.js';
import { accepts } from '../../core/media-type.js';

/** Maximum length of a request target, in characters; RFC 9110 section 4.1 recommends supporting at least 8,000 octets. */
const LIMIT = 8_192;

/** Methods that change a resource. */
const CHANGING: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/**
 * Refuses targets that are too long, an `Accept` that excludes the response's type, and a request that changes something but has a header
 * that its handler would ignore.
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
    const operation = OPERATIONS.of(context);
    const { responseType: type } = operation;
    if (accept !== undefined && !accepts(accept, type))
      throw new ApiError(HTTP_ERRORS.not_acceptable, { params: { type } });
    if (isChange) refuseIgnored(request, operation);
    return true;
  }
}

/**
 * Refuses an `If-Match` with tags, or an `If-None-Match` of an existing resource, without `@IfMatch()`, and the `Idempotency-Key` of a POST
 * without `@Idempotent()`.
 */
function refuseIgnored(
  { method, headers }: Request,
  { isIdempotent, ifMatch: need }: DeclaredOperation,
): void {
  if (method === 'POST' && 'idempotency-key' in headers && !isIdempotent) {
    const message =
      'This operation does not accept an Idempotency-Key, so a retry would be carried out again. Omit the header.';
    throw new ApiError(HTTP_ERRORS.validation_failed, {
      details: [{ field: 'Idempotency-Key', code: 'not_supported', message }],
    });
  }
  const ifMatch = headers['if-match'];
  // `*` needs no tag (RFC 9110 section 13.1.1), because a missing resource returns 404, unless a PUT creates it.
  const holds =
    (ifMatch === undefined || (ifMatch === '*' && method !== 'PUT')) &&
    (method === 'POST' || headers['if-none-match'] === undefined);
  if (!holds && need === undefined) throw new ApiError(HTTP_ERRORS.precondition_failed);
}

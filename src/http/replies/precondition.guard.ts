import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { DECLARATIONS } from '../../core/declared-operation.js';
import { Transactions } from '../../database/transactions/transactions.js';
import { ApiError } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { isEntityTagField } from './entity-tag.js';
import { Precondition } from './precondition.js';

/**
 * Passes the precondition to a handler with `@IfMatch()`, or refuses a request without one. Runs after BodyGuard and before
 * IdempotencyGuard.
 */
@Injectable()
export class PreconditionGuard implements CanActivate {
  constructor(private readonly transactions: Transactions) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers;
    if (ifMatch === undefined && DECLARATIONS.of(context).ifMatch === 'required')
      throw new ApiError(HTTP_ERRORS.precondition_required);
    if (!isEntityTagField(ifMatch ?? '')) throw malformed('If-Match');
    if (!isEntityTagField(ifNoneMatch ?? '')) throw malformed('If-None-Match');
    request.precondition = new Precondition(ifMatch, this.transactions, ifNoneMatch);
    return true;
  }
}

function malformed(field: string): ApiError {
  const message = 'This must be * or entity tags in double quotes, as in ETag, such as "5d8c72a5".';
  return new ApiError(HTTP_ERRORS.validation_failed, {
    details: [{ field, code: 'malformed_entity_tag', message }],
  });
}

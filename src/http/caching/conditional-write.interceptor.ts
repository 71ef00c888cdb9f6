import { type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Transactions } from '../../database/transactions.js';
import { ApiError } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { HandlerMetadata } from '../../core/handler-metadata.js';
import { declaredOperationOf } from '../adapter/declared-operation.js';
import { AsyncInterceptor } from '../async.interceptor.js';
import { entityTag, isEntityTagField } from './entity-tag.js';
import { PRECONDITION, ifMatchNeedOf } from './if-match.decorator.js';
import { Precondition } from './precondition.js';

/**
 * Gives a handler with `@IfMatch()` the precondition of its request, and refuses one that lacks it where it is needed. Gives
 * the answers of operations that declare `entityTag` the `ETag` that GET answers of the same state. In the chain it is outside of
 * IdempotencyInterceptor: a repeated answer has the tag of the first; and inside of EveryFaultInterceptor, which adds the other
 * faults of a request to that of a malformed precondition.
 */
@Injectable()
export class ConditionalWriteInterceptor extends AsyncInterceptor {
  private readonly declared = new HandlerMetadata(([handler]) => ({
    need: ifMatchNeedOf(handler),
    hasEntityTag: declaredOperationOf(handler)?.hasEntityTag ?? false,
  }));

  constructor(private readonly transactions: Transactions) {
    super();
  }

  override concerns(handler: object): boolean {
    return ifMatchNeedOf(handler) !== undefined || declaredOperationOf(handler)?.hasEntityTag === true;
  }

  async around(context: ExecutionContext, next: () => Promise<unknown>): Promise<unknown> {
    const { need, hasEntityTag } = this.declared.of(context);
    const http = context.switchToHttp();
    if (need) {
      const request = http.getRequest<Request>();
      const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers;
      if (ifMatch === undefined && need === 'required') throw new ApiError(HTTP_ERRORS.precondition_required);
      if (!isEntityTagField(ifMatch ?? '')) throw malformed('If-Match');
      if (!isEntityTagField(ifNoneMatch ?? '')) throw malformed('If-None-Match');
      PRECONDITION.set(request, new Precondition(ifMatch, this.transactions, ifNoneMatch));
    }
    const body = await next();
    const response = http.getResponse<Response>();
    if (hasEntityTag && typeof body === 'string' && !response.hasHeader('ETag'))
      response.setHeader('ETag', entityTag(body));
    return body;
  }
}

function malformed(field: string): ApiError {
  const message = 'This must be * or entity tags in double quotes, as ETag has them, such as "5d8c72a5".';
  return new ApiError(HTTP_ERRORS.validation_failed, {
    details: [{ field, code: 'malformed_entity_tag', message }],
  });
}

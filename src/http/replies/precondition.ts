import type { Type } from '@nestjs/common';
import type { JsonText } from '../../database/json-rows.js';
import type { Transactions } from '../../database/transactions/transactions.js';
import { jsonOf } from './reply.js';
import { ApiError } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { entityTag, matchesEntityTag, requireMatch } from './entity-tag.js';

/** The current `ETag` of a resource: that of its DTO, as returned by GET, POST and PATCH. */
export function entityTagOf<Dto extends object>(dto: Type<Dto>, current: Dto | JsonText<Dto>): string {
  return entityTag(jsonOf(current, dto));
}

/** The state of a resource that the client has seen: the entity tags in `If-Match` and `If-None-Match` (RFC 9110 section 13.1). */
export class Precondition {
  /** The fields as sent; undefined if absent, which satisfies every precondition. */
  constructor(
    private readonly ifMatch: string | undefined,
    private readonly transactions: Pick<Transactions, 'isInside'>,
    private readonly ifNoneMatch?: string | undefined,
  ) {}

  /**
   * Throws precondition_failed unless the client has seen the current state of the resource. Must be called in the transaction that reads
   * and changes the resource; otherwise, another request could change it in between.
   */
  check<Dto extends object>(dto: Type<Dto>, current: Dto | JsonText<Dto>): void {
    this.checkTag(() => entityTagOf(dto, current));
  }

  /** Like `check`, for a handler that sets `ETag` itself, for example from a version column. */
  checkTag(current: () => string): void {
    if (!this.transactions.isInside())
      throw new Error('A precondition must be checked in the transaction that makes the change.');
    if (this.ifMatch !== undefined) requireMatch(this.ifMatch, current());
    if (this.ifNoneMatch !== undefined && matchesEntityTag(this.ifNoneMatch, current()))
      throw new ApiError(HTTP_ERRORS.precondition_failed);
  }
}

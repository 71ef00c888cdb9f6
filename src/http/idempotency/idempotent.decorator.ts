import { SetMetadata, UseInterceptors, applyDecorators } from '@nestjs/common';
import { IdempotencyInterceptor } from './idempotency.interceptor.js';
import { runsInTransaction } from './transactional-handler.js';

/** Metadata key of `@Idempotent()`. */
export const IDEMPOTENT = 'petstore:idempotent';

/**
 * Lets an operation be retried safely: with an `Idempotency-Key` it is carried out once and answered the same for 24
 * hours. What the handler writes, by repositories or the DataSource, commits together with the kept answer, and no other
 * request sees it before.
 */
export function Idempotent(): MethodDecorator {
  return applyDecorators(
    runsInTransaction,
    UseInterceptors(IdempotencyInterceptor),
    SetMetadata(IDEMPOTENT, true),
  );
}

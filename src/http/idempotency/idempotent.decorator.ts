import { UseGuards } from '@nestjs/common';
import { withRequest } from '../adapter/handler-parameters.js';
import { IdempotencyGuard } from './idempotency.guard.js';

/** Metadata key of `@Idempotent()`. */
export const IDEMPOTENT = 'petstore:idempotent';

/**
 * Lets an operation be retried safely: with an `Idempotency-Key` it is carried out once and answered the same for 24
 * hours. What the handler writes, by repositories or the DataSource, commits together with the kept answer, and no other
 * request sees it before.
 */
export function Idempotent(): MethodDecorator {
  return (prototype, method, descriptor: PropertyDescriptor) => {
    withRequest(prototype, method, descriptor, ({ carriedOutOnce: once }, handler) =>
      once ? once(handler) : handler(),
    );
    UseGuards(IdempotencyGuard)(prototype, method, descriptor);
    Reflect.defineMetadata(IDEMPOTENT, true, descriptor.value as object);
  };
}

import { UseGuards } from '@nestjs/common';
import { withRequest } from '../adapter/handler-parameters.js';
import { IdempotencyGuard } from './idempotency.guard.js';

/** Metadata key of `@Idempotent()`. */
export const IDEMPOTENT = 'petstore:idempotent';

/**
 * Makes an operation safe to retry: with an `Idempotency-Key` it is carried out once and has the same response for 24
 * hours. Writes of the handler, by repositories or the DataSource, are committed together with the stored response, and no other
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

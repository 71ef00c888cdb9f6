import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';

/** Metadata key of `@Idempotent()`. */
export const IDEMPOTENT = 'petstore:idempotent';
/** OpenAPI extension that marks an operation that takes an `Idempotency-Key`; it is not published. */
export const IDEMPOTENT_EXTENSION = 'x-idempotent';

/**
 * Lets an operation be retried safely: with an `Idempotency-Key` it is carried out once and answered the same for 24
 * hours. The handler takes its unit of work with `@CurrentUnit()` and writes and reads through nothing else: its writes
 * and the kept answer commit together, and whoever reads past the unit does not see them yet.
 */
export function Idempotent(): MethodDecorator {
  return applyDecorators(SetMetadata(IDEMPOTENT, true), ApiExtension(IDEMPOTENT_EXTENSION, true));
}

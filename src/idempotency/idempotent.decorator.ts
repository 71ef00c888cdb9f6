import { SetMetadata, applyDecorators } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { insideTransaction } from './current-unit.js';

/** Metadata key of `@Idempotent()`. */
export const IDEMPOTENT = 'petstore:idempotent';
/** OpenAPI extension that marks an operation that takes an `Idempotency-Key`; it is not published. */
export const IDEMPOTENT_EXTENSION = 'x-idempotent';

/**
 * Lets an operation be retried safely: with an `Idempotency-Key` it is carried out once and answered the same for 24
 * hours. What the handler writes, through its unit of work (`@CurrentUnit()`), repositories or the DataSource, commits
 * together with the kept answer, and nobody else sees it before.
 */
export function Idempotent(): MethodDecorator {
  return applyDecorators(
    runsInTransaction,
    SetMetadata(IDEMPOTENT, true),
    ApiExtension(IDEMPOTENT_EXTENSION, true),
  );
}

type Handler = (this: unknown, ...args: unknown[]) => unknown;

/**
 * Runs a handler, but neither the reading of its body nor its validation, inside the transaction of its request. Between the
 * pipes and the handler there is no other place to stand.
 */
function runsInTransaction(_: object, key: string | symbol, descriptor: PropertyDescriptor): void {
  const handler = descriptor.value as Handler;
  const inTransaction: Handler = function (...args) {
    return insideTransaction(() => handler.apply(this, args));
  };
  for (const name of Reflect.getMetadataKeys(handler) as string[])
    Reflect.defineMetadata(name, Reflect.getMetadata(name, handler), inTransaction);
  Object.defineProperty(inTransaction, 'name', { value: key });
  descriptor.value = inTransaction;
}

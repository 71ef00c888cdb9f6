import { SetMetadata, applyDecorators } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { isObservable, lastValueFrom } from 'rxjs';
import { AsyncContext, type Inside } from '../../database/transactions.js';

/** Metadata key of `@Idempotent()`. */
export const IDEMPOTENT = 'petstore:idempotent';
/** OpenAPI extension that marks an operation that takes an `Idempotency-Key`; it is not published. */
export const IDEMPOTENT_EXTENSION = 'x-idempotent';

/** The transaction that the handler of a request is to take part in. */
const TRANSACTION = new AsyncContext<Inside>();

/**
 * Lets an operation be retried safely: with an `Idempotency-Key` it is carried out once and answered the same for 24
 * hours. What the handler writes, by repositories or the DataSource, commits together with the kept answer, and no other
 * request sees it before.
 */
export function Idempotent(): MethodDecorator {
  return applyDecorators(
    runsInTransaction,
    SetMetadata(IDEMPOTENT, true),
    ApiExtension(IDEMPOTENT_EXTENSION, true),
  );
}

/** Runs the rest of the chain so that the handler, and nothing before it, takes part in a transaction. */
export function handlerInside<T>(inside: Inside, next: () => Promise<T>): Promise<T> {
  return TRANSACTION.run(inside, next);
}

type Handler = (this: unknown, ...args: unknown[]) => unknown;

/**
 * Runs a handler, but neither the reading of its body nor its validation, inside the transaction of its request. Nest calls
 * nothing else between the pipes and the handler.
 */
function runsInTransaction(_: object, key: string | symbol, descriptor: PropertyDescriptor): void {
  const handler = descriptor.value as Handler;
  const inTransaction: Handler = function (...args) {
    const inside = TRANSACTION.current();
    return inside ? inside(() => settled(handler.apply(this, args))) : handler.apply(this, args);
  };
  for (const name of Reflect.getMetadataKeys(handler) as string[])
    Reflect.defineMetadata(name, Reflect.getMetadata(name, handler), inTransaction);
  Object.defineProperty(inTransaction, 'name', { value: key });
  descriptor.value = inTransaction;
}

/** What a handler answers; an Observable works until its last value. */
async function settled(answer: unknown): Promise<unknown> {
  const value = await answer;
  return isObservable(value) ? lastValueFrom(value) : value;
}

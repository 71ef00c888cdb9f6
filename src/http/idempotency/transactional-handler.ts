import { isObservable, lastValueFrom } from 'rxjs';
import { replaceHandler } from '../../core/handler-metadata.js';
import { AsyncContext } from '../../database/scopes/async-context.js';
import type { Inside } from '../../database/scopes/runner-transactions.js';

/** The transaction that the handler of a request is to take part in. */
const TRANSACTION = new AsyncContext<Inside>();

/** Runs the rest of the chain so that the handler, and nothing before it, takes part in a transaction. */
export function handlerInside<T>(inside: Inside, next: () => Promise<T>): Promise<T> {
  return TRANSACTION.run(inside, next);
}

/**
 * Runs a handler, but neither the reading of its body nor its validation, inside the transaction of its request. Nest calls
 * nothing else between the pipes and the handler.
 */
export const runsInTransaction: MethodDecorator = (_, __, descriptor) =>
  replaceHandler(
    descriptor,
    (handler) =>
      function (...args) {
        const inside = TRANSACTION.current();
        return inside ? inside(() => settled(handler.apply(this, args))) : handler.apply(this, args);
      },
  );

/** What a handler answers; an Observable works until its last value. */
async function settled(answer: unknown): Promise<unknown> {
  const value = await answer;
  return isObservable(value) ? lastValueFrom(value) : value;
}

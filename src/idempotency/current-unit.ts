import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import type { Request } from 'express';
import { isObservable, lastValueFrom } from 'rxjs';
import { AsyncContext } from '../database/async-context.js';
import type { TransactionUnit } from '../database/transactions.js';
import type { UnitOfWork } from '../database/unit-of-work.js';

/** The transaction that the handler of a request is to take part in. */
const TRANSACTION = new AsyncContext<TransactionUnit>();

const UNIT = Symbol('unit of work');

type RequestWithUnit = Request & { [UNIT]?: UnitOfWork };

/** Gives the request the unit that its handler works in. */
export function setUnit(request: Request, unit: UnitOfWork): void {
  (request as RequestWithUnit)[UNIT] = unit;
}

/** Handler parameter of an `@Idempotent()` operation: the unit that it works in. */
export const CurrentUnit = createParamDecorator((_: unknown, context: ExecutionContext): UnitOfWork => {
  const unit = context.switchToHttp().getRequest<RequestWithUnit>()[UNIT];
  if (!unit) throw new Error(`${context.getHandler().name} takes @CurrentUnit(), but is not @Idempotent().`);
  return unit;
});

/** Runs the rest of the chain with a transaction that the handler, and nothing before it, takes part in. */
export function withTransaction<T>(unit: TransactionUnit, next: () => Promise<T>): Promise<T> {
  return TRANSACTION.run(unit, next);
}

/** Runs a handler so that it takes part in the transaction of its request, if there is one. */
export function insideTransaction(handler: () => unknown): unknown {
  const unit = TRANSACTION.current();
  return unit ? unit.inside(() => settled(handler())) : handler();
}

/** What a handler answers; an Observable works until its last value. */
async function settled(answer: unknown): Promise<unknown> {
  const value = await answer;
  return isObservable(value) ? lastValueFrom(value) : value;
}

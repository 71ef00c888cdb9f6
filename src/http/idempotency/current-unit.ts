import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { UnitOfWork } from '../../database/unit-of-work.js';

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

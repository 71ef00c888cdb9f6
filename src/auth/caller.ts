import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

/** Who sends a request, known once the credential guard has verified its key. */
export interface Caller {
  readonly clientId: string;
  readonly keyId: string;
  readonly scopes: readonly string[];
}

const CALLER = Symbol('caller');

type IdentifiedRequest = Request & { [CALLER]?: Caller };

/** Stores the caller with the request. */
export function setCaller(request: Request, caller: Caller): void {
  (request as IdentifiedRequest)[CALLER] = caller;
}

/** The caller of a request; undefined before the credential guard, without a valid key, and on public routes. */
export function callerOf(request: Request): Caller | undefined {
  return (request as IdentifiedRequest)[CALLER];
}

/** Handler parameter: the caller of the request. */
export const CurrentClient = createParamDecorator(
  (_: unknown, context: ExecutionContext): Caller | undefined =>
    callerOf(context.switchToHttp().getRequest<Request>()),
);

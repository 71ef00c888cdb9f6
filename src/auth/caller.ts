import type { IncomingMessage } from 'node:http';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { reading } from '../core/execution-context.js';

/** The sender of a request whose key or token the credential guard has verified. */
export interface Caller {
  /** Id of the client that the key belongs to, or the id derived from the user of another credential. */
  readonly clientId: string;
  /** Id of the API key; null for another credential. */
  readonly keyId: string | null;
  /** The user of another credential, as named by its CredentialVerifier; null for an API key. */
  readonly user: string | null;
  readonly scopes: readonly string[];
}

/** The caller of a request; undefined before the credential guard, without a valid credential, and on public routes. */
export function callerOf(request: IncomingMessage): Caller | undefined {
  return request.caller;
}

/** Handler parameter: the caller of the request. */
export const CurrentCaller = createParamDecorator(
  reading('head', (_: unknown, context: ExecutionContext): Caller | undefined =>
    callerOf(context.switchToHttp().getRequest<Request>()),
  ),
);

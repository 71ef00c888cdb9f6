import { scopeChallenge } from '../core/errors/challenge.js';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { isHeld } from './scopes.js';
import { ApiError } from '../core/errors/api-error.js';
import { DECLARATIONS } from '../core/declared-operation.js';
import { requestOf } from '../core/execution-context.js';
import { AUTH_ERRORS } from './auth.errors.js';

/**
 * Admits only keys with the scopes of `@RequireScopes()`; throws insufficient_scope. It runs after the quota, so that requests refused for
 * their scope count as well.
 */
@Injectable()
export class ScopesGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = requestOf(context);
    if (!request) return true;
    refuseWithoutScopes(DECLARATIONS.of(context).scopes ?? [], request.caller?.scopes ?? []);
    return true;
  }
}

/** Throws insufficient_scope (RFC 6750 section 3.1) unless all required scopes are held. */
export function refuseWithoutScopes(required: readonly string[], held: readonly string[]): void {
  if (required.every((scope) => isHeld(scope, held))) return;
  throw new ApiError(AUTH_ERRORS.insufficient_scope, {
    params: { scope: required.join(' ') },
    headers: { 'WWW-Authenticate': scopeChallenge(required) },
  });
}

import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { isHeld, scopeChallenge } from './clients/scopes.js';
import { ApiError } from '../core/errors/api-error.js';
import { HandlerMetadata, requestOf } from '../core/execution-context.js';
import { REQUIRED_SCOPES } from './auth.decorators.js';
import { AUTH_ERRORS } from './auth.errors.js';

/**
 * Admits only keys with the scopes of `@RequireScopes()`; throws insufficient_scope (RFC 6750 section 3.1). It runs after the quota, so
 * that a request that is refused for its scope is counted too.
 */
@Injectable()
export class ScopesGuard implements CanActivate {
  private readonly required;

  constructor(reflector: Reflector) {
    this.required = new HandlerMetadata((targets) =>
      reflector.getAllAndMerge<string[]>(REQUIRED_SCOPES, targets),
    );
  }

  canActivate(context: ExecutionContext): boolean {
    const request = requestOf(context);
    if (!request) return passesMessage(context.getHandler());
    const required = this.required.of(context);
    const held = request.caller?.scopes ?? [];
    if (required.every((scope) => isHeld(scope, held))) return true;
    throw new ApiError(AUTH_ERRORS.insufficient_scope, {
      params: { scope: required.join(' ') },
      headers: { 'WWW-Authenticate': scopeChallenge(required) },
    });
  }
}

/**
 * The scopes of a gateway are checked when a WebSocket is opened. The sender of a message is unknown, so that scopes on the handler of
 * a message cannot be checked; such a declaration is an error.
 */
function passesMessage(handler: object): true {
  if (!Reflect.hasMetadata(REQUIRED_SCOPES, handler)) return true;
  throw new Error('@RequireScopes() is on the handler of a message; put it on the gateway.');
}

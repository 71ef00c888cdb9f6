import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { scopeChallenge } from '../accounts/scopes.js';
import { ApiError } from '../errors/api-error.js';
import { HandlerMetadata } from '../handler-metadata.js';
import { REQUIRED_SCOPES } from './auth.decorators.js';
import { AUTH_ERRORS } from './auth.errors.js';
import { callerOf } from './caller.js';

/**
 * Lets only keys pass that hold the scopes of `@RequireScopes()`; throws insufficient_scope (RFC 6750 section 3.1). It
 * stands behind the quota, so that a request that is refused for its scope is counted too.
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
    const required = this.required.of(context);
    const held = callerOf(context.switchToHttp().getRequest<Request>())?.scopes ?? [];
    if (required.every((scope) => held.includes(scope))) return true;
    throw new ApiError(AUTH_ERRORS.insufficient_scope, {
      params: { scope: required.join(' ') },
      headers: { 'WWW-Authenticate': scopeChallenge(required) },
    });
  }
}

import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { HandlerMetadata } from '../handler-metadata.js';
import { ApiError } from '../errors/api-error.js';
import { QuotaService } from '../throttling/quota.service.js';
import { REQUIRED_SCOPES } from './auth.decorators.js';
import { AUTH_ERRORS } from './auth.errors.js';
import { callerOf } from './caller.js';
import { scopeChallenge } from './challenge.js';

/** Lets only keys pass that hold the scopes of `@RequireScopes()`; a refusal counts nothing (RFC 6750 section 3.1). */
@Injectable()
export class ScopesGuard implements CanActivate {
  private readonly required;

  constructor(
    private readonly quota: QuotaService,
    reflector: Reflector,
  ) {
    this.required = new HandlerMetadata((targets) =>
      reflector.getAllAndMerge<string[]>(REQUIRED_SCOPES, targets),
    );
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const required = this.required.of(context);
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const held = callerOf(request)?.scopes ?? [];
    if (required.every((scope) => held.includes(scope))) return true;
    await this.quota.show(request, http.getResponse<Response>());
    throw new ApiError(AUTH_ERRORS.insufficient_scope, {
      params: { scope: required.join(' ') },
      headers: { 'WWW-Authenticate': scopeChallenge(required) },
    });
  }
}

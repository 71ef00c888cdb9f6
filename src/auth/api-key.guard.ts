import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { HandlerMetadata } from '../handler-metadata.js';
import { ApiError } from '../errors/api-error.js';
import { QuotaService } from '../throttling/quota.service.js';
import type { ApiKey } from './api-key.entity.js';
import { ApiKeyVerifier } from './api-key.verifier.js';
import { PUBLIC_ROUTE } from './auth.decorators.js';
import { AUTH_ERRORS } from './auth.errors.js';
import { CHALLENGE } from './challenge.js';
import { identify } from './identify.js';
import { KeyUseService } from './key-use.service.js';

/**
 * Lets only requests with a valid API key pass, unless the route is `@Public()`. A refused request counts
 * for its address; once the address has used its minute, it gets 429 instead of 401. A suspended client is
 * refused without counting anything.
 */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  private readonly isPublic;

  constructor(
    private readonly verifier: ApiKeyVerifier,
    private readonly quota: QuotaService,
    private readonly use: KeyUseService,
    reflector: Reflector,
  ) {
    this.isPublic = new HandlerMetadata((targets) =>
      reflector.getAllAndOverride<boolean>(PUBLIC_ROUTE, targets),
    );
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.isPublic.of(context)) return true;
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    let key: ApiKey;
    try {
      key = await this.verifier.verify(request.headers.authorization);
    } catch (refusal) {
      await this.quota.take(request, response);
      throw refusal;
    }
    identify(request, key);
    if (key.client.suspendedAt !== null) {
      await this.quota.show(request, response);
      throw new ApiError(AUTH_ERRORS.client_suspended, { headers: { 'WWW-Authenticate': CHALLENGE } });
    }
    this.use.note(key.id);
    return true;
  }
}

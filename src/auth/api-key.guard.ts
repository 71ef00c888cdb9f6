import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { clientSubjectId, setQuotaSubject } from '../throttling/quota-subject.js';
import { QuotaService } from '../throttling/quota.service.js';
import type { ApiKey } from './api-key.entity.js';
import { ApiKeyVerifier } from './api-key.verifier.js';
import { PUBLIC_ROUTE } from './auth.decorators.js';
import { setCaller } from './caller.js';

/**
 * Lets only requests with a valid API key pass, unless the route is `@Public()`. A refused request counts
 * for its address; once the address has used its minute, it gets 429 instead of 401.
 */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly verifier: ApiKeyVerifier,
    private readonly quota: QuotaService,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.reflector.getAllAndOverride<boolean>(PUBLIC_ROUTE, [context.getHandler(), context.getClass()])) {
      return true;
    }
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    let key: ApiKey;
    try {
      key = await this.verifier.verify(request.headers.authorization);
    } catch (refusal) {
      await this.quota.take(request, http.getResponse<Response>());
      throw refusal;
    }
    const { client } = key;
    setCaller(request, { clientId: client.id, keyId: key.id, scopes: key.scopes });
    setQuotaSubject(request, {
      id: clientSubjectId(client.id),
      plan: client.plan,
      keyId: key.id,
      ...client.limits,
    });
    return true;
  }
}

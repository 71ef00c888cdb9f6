import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import type { ApiKey } from '../accounts/api-key.entity.js';
import { subjectOfClient } from '../accounts/client.entity.js';
import { KeyUseService } from '../accounts/key-use.service.js';
import { CHALLENGE } from '../accounts/scopes.js';
import { ApiError } from '../errors/api-error.js';
import { HandlerMetadata } from '../handler-metadata.js';
import { quotaSubjectOf, setQuotaSubject } from '../throttling/quota-subject.js';
import { QuotaService } from '../throttling/quota.service.js';
import { isHttp } from '../request-protocol.js';
import { ApiKeyVerifier } from './api-key.verifier.js';
import { PUBLIC_ROUTE } from './auth.decorators.js';
import { AUTH_ERRORS } from './auth.errors.js';
import { setCaller } from './caller.js';
import type { FoundKey } from './key-cache.js';

/**
 * A queue for each client address: work of one address runs one at a time, work of different addresses runs concurrently. An
 * address that has used up its minute is still served, because it may send a valid key, but causes one look-up at a time.
 */
export class AddressTurns {
  private readonly last = new Map<string, Promise<unknown>>();

  /** Runs work once all earlier work of the same address has settled. */
  async run<T>(address: string, work: () => Promise<T>): Promise<T> {
    const before = this.last.get(address);
    const own = before ? before.then(work) : work();
    const done = own.catch(() => undefined);
    this.last.set(address, done);
    try {
      return await own;
    } finally {
      if (this.last.get(address) === done) this.last.delete(address);
    }
  }
}

/**
 * Lets only requests with a valid API key pass, unless the route is `@Public()`. A request that is refused for its credential
 * counts for its address; once the address has used its minute, it gets 429 instead. A valid key is never refused because of
 * its address. When the database does not answer, the request is not counted at all.
 */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  private readonly isPublic;
  private readonly turns = new AddressTurns();

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
    if (!isHttp(context) || this.isPublic.of(context)) return true;
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    try {
      const key = await this.verifier.verify(request.headers.authorization, (lookUp) =>
        this.inTurn(request, lookUp),
      );
      identifyCaller(request, key);
      if (key.client.suspendedAt !== null) throw suspended();
      setQuotaSubject(request, { ...subjectOfClient(key.client), keyId: key.id });
      this.use.note(key.id);
      return true;
    } catch (refusal) {
      const isOfCredential = refusal instanceof ApiError && refusal.body.status < 500;
      if (isOfCredential) await this.quota.take(request, response);
      else await this.quota.show(request, response);
      throw refusal;
    }
  }

  /** Runs a look-up at once, or in the queue of its address if that has used up its minute. */
  private async inTurn(request: Request, lookUp: () => Promise<FoundKey>): Promise<FoundKey> {
    const address = quotaSubjectOf(request);
    const { admitted } = await this.quota.look(address);
    return admitted ? lookUp() : this.turns.run(address.id, lookUp);
  }
}

function identifyCaller(request: Request, { id: keyId, client, scopes }: ApiKey): void {
  setCaller(request, { clientId: client.id, keyId, scopes });
}

function suspended(): ApiError {
  return new ApiError(AUTH_ERRORS.client_suspended, { headers: { 'WWW-Authenticate': CHALLENGE } });
}

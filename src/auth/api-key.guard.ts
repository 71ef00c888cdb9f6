import { type CanActivate, type ExecutionContext, HttpException, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ClientQuotas } from './clients/client-quotas.js';
import { refuseSuspended } from './clients/key-refusals.js';
import { DECLARATIONS } from '../core/declared-operation.js';
import { ADMITTED, requestOf, responseOf } from '../core/execution-context.js';
import { QuotaService } from '../throttling/quota.service.js';
import type { QuotaSubject } from '../throttling/quota.js';
import { CredentialLookupLimiter } from './credential-lookup-limiter.js';
import { ApiKeyVerifier } from './api-key.verifier.js';
import type { CallersKey } from './clients/key-cache.js';
import { OtherCredentials, challenge } from './other-credentials.js';

/**
 * Admits requests with a valid API key or another credential that a CredentialVerifier accepts, and all requests to `@Public()` routes. A
 * refused credential counts as a failed attempt of the address; once the attempts are used up, requests are refused with 429 instead. A
 * valid key is refused for its address only if the attempts are used up and too many unknown keys are waiting. If the database does not
 * respond, the attempt is not counted.
 */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  private readonly keyLookups;
  /** Separate, so that a slow verifier does not delay API keys. */
  private readonly tokenLookups;

  constructor(
    private readonly verifier: ApiKeyVerifier,
    private readonly quota: QuotaService,
    private readonly quotas: ClientQuotas,
    private readonly others: OtherCredentials,
  ) {
    this.keyLookups = new CredentialLookupLimiter(quota);
    this.tokenLookups = new CredentialLookupLimiter(quota);
  }

  canActivate(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    if (!request || request.requester !== undefined || DECLARATIONS.of(context).isPublic) return ADMITTED;
    const response = responseOf(context);
    try {
      return this.admitCached(request) ? ADMITTED : this.admit(request, response);
    } catch (refusal) {
      return this.refuse(refusal, request, response);
    }
  }

  /** Admits a request with a cached key; synchronously, because each await costs time. */
  private admitCached(request: Request): boolean {
    const { authorization } = request.headers;
    if (this.others.tokenIn(authorization) !== undefined) return false;
    const key = this.verifier.cached(authorization);
    if (!key) return false;
    setCaller(request, key);
    request.quotaSubject = this.subjectBy(key);
    return true;
  }

  private async admit(request: Request, response: Response): Promise<boolean> {
    const { authorization } = request.headers;
    const token = this.others.tokenIn(authorization);
    let release: (() => void) | undefined;
    try {
      if (token !== undefined) {
        release = await this.tokenLookups.acquire(request, response);
        const { caller, subject } = await this.others.verify(token, request);
        request.caller = caller;
        request.quotaSubject = subject;
        return true;
      }
      const digest = this.verifier.digestIn(authorization);
      // A recently valid key cannot be a guess.
      if (!this.verifier.isKnown(digest)) release = await this.keyLookups.acquire(request, response);
      // The caller is set even if the key has expired or was revoked, so that the error is recorded for its client.
      const key = await this.verifier.find(digest, (found) => setCaller(request, found));
      request.quotaSubject = this.subjectBy(key);
      return true;
    } catch (refusal) {
      if (token !== undefined && isOfCredential(refusal)) challenge(refusal, response);
      return await this.refuse(refusal, request, response);
    } finally {
      release?.();
    }
  }

  /** The subject that the requests of a key count for. Throws client_suspended. */
  private subjectBy(key: CallersKey): QuotaSubject {
    refuseSuspended(key.client);
    const { id, plan, perMinute, perDay, clientId } = this.quotas.subjectOf(key.client);
    // Not a spread, which takes 3 % of the time of a cached response.
    return { id, plan, perMinute, perDay, clientId, keyId: key.id };
  }

  /**
   * Counts a refused credential for the address, and throws the refusal, or rate_limit_exceeded if the attempts of the address are used up.
   */
  private async refuse(refusal: unknown, request: Request, response: Response): Promise<never> {
    if (!isOfCredential(refusal)) {
      await this.quota.noteFailure(request, response);
      throw refusal;
    }
    try {
      await this.quota.take(request, response);
    } catch (ofAddress) {
      // The address has used up its attempts, so its 429 must not be recorded for the key and its client.
      request.caller = undefined;
      throw ofAddress;
    }
    throw refusal;
  }
}

function isOfCredential(refusal: unknown): refusal is HttpException {
  return refusal instanceof HttpException && refusal.getStatus() < 500;
}

function setCaller(request: Request, { id: keyId, client, scopes }: CallersKey): void {
  request.caller = { clientId: client.id, keyId, user: null, scopes };
}

import { type CanActivate, type ExecutionContext, HttpException, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { ClientQuotas } from './clients/client-quotas.js';
import { refuseSuspended } from './clients/key-refusals.js';
import { HandlerMetadata, requestOf, responseOf } from '../core/execution-context.js';
import { quotaSubjectOf } from '../throttling/quota-policy.js';
import { QuotaService } from '../throttling/quota.service.js';
import type { QuotaSubject } from '../throttling/quota.js';
import { TransientMap } from '../core/transient-map.js';
import { ApiKeyVerifier, type VerifiedKey } from './api-key.verifier.js';
import { PUBLIC_ROUTE } from './auth.decorators.js';
import type { FoundKey } from './key-cache.js';
import { OtherCredentials, challenge } from './other-credentials.js';

/**
 * One queue per client address: look-ups of one address run one after the other. An address that has used up its minute is still
 * served, because it may send a valid key, but causes only one look-up at a time.
 */
class AddressTurns {
  private readonly last = new TransientMap<string, Promise<unknown>>();

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
 * Admits requests with a valid API key, or with another credential that a CredentialVerifier accepts, and all requests to `@Public()`
 * routes. A request that is refused for its credential counts for its address; once the address has used up its minute, it gets 429
 * instead. A valid key is never refused because of its address. If the database does not respond, the request is not counted.
 */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  private readonly isPublic;
  private readonly turns = new AddressTurns();

  constructor(
    private readonly verifier: ApiKeyVerifier,
    private readonly quota: QuotaService,
    private readonly quotas: ClientQuotas,
    private readonly others: OtherCredentials,
    reflector: Reflector,
  ) {
    this.isPublic = new HandlerMetadata((targets) =>
      reflector.getAllAndOverride<boolean>(PUBLIC_ROUTE, targets),
    );
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    if (!request || this.isPublic.of(context)) return true;
    const response = responseOf(context);
    const token = this.others.tokenIn(request.headers.authorization);
    if (token !== undefined) return this.admitOther(token, request, response);
    try {
      const subject = this.identify(request);
      // A cached key is found synchronously, and each await costs time.
      request.quotaSubject = subject instanceof Promise ? await subject : subject;
      return true;
    } catch (refusal) {
      await this.count(refusal, request, response);
      throw refusal;
    }
  }

  /** Finds the caller by its key, and returns the subject of the request. `isFresh` reads the key from the database. */
  private identify(request: Request, isFresh = false): QuotaSubject | Promise<QuotaSubject> {
    const turn = (lookUp: () => Promise<FoundKey>) => (isFresh ? lookUp() : this.inTurn(request, lookUp));
    const verified = this.verifier.verify(request.headers.authorization, turn, isFresh);
    return verified instanceof Promise
      ? verified.then((found) => this.callerBy(found, request))
      : this.callerBy(verified, request);
  }

  private callerBy({ key, cachedAt, versions }: VerifiedKey, request: Request): QuotaSubject {
    request.seenVersions = versions;
    request.caller = { clientId: key.client.id, keyId: key.id, user: null, scopes: key.scopes };
    refuseSuspended(key.client);
    const { id, plan, perMinute, perDay, clientId } = this.quotas.subjectOf(key.client);
    // Written out: spreading an object of another shape takes 3 % of the time of a cached response.
    const subject: QuotaSubject = { id, plan, perMinute, perDay, clientId, keyId: key.id };
    if (cachedAt === undefined) return subject;
    const isCurrent = () => this.verifier.isCurrent(cachedAt);
    return { ...subject, renewal: { isCurrent, renew: async () => this.identify(request, true) } };
  }

  private async admitOther(token: string, request: Request, response: Response): Promise<boolean> {
    try {
      const { caller, subject } = await this.inTurn(request, () => this.others.verify(token, request));
      request.caller = caller;
      request.quotaSubject = subject;
      return true;
    } catch (refusal) {
      if (isOfCredential(refusal)) challenge(refusal, response);
      await this.count(refusal, request, response);
      throw refusal;
    }
  }

  /** Counts a refusal of the credential for the address; throws rate_limit_exceeded if that has used up its minute. */
  private async count(refusal: unknown, request: Request, response: Response): Promise<void> {
    if (isOfCredential(refusal))
      await this.quota.take(request, response).catch((ofAddress: unknown) => {
        // A suspended client has not used its key, nor its quota.
        request.caller = undefined;
        throw ofAddress;
      });
    else await this.quota.show(request, response);
  }

  /** Runs a look-up immediately, or in the queue of its address if that has used up its minute. */
  private async inTurn<T>(request: Request, lookUp: () => Promise<T>): Promise<T> {
    const address = quotaSubjectOf(request);
    const { admitted } = await this.quota.look(address);
    return admitted ? lookUp() : this.turns.run(address.id, lookUp);
  }
}

function isOfCredential(refusal: unknown): refusal is HttpException {
  return refusal instanceof HttpException && refusal.getStatus() < 500;
}

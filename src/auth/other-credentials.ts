import { HttpException, Injectable, Logger, Optional } from '@nestjs/common';
import type { Request, Response } from 'express';
import { resemblesApiKey } from './api-key.format.js';
import { ClientQuotas } from './clients/client-quotas.js';
import { CHALLENGE, CHALLENGE_AFTER_CREDENTIAL } from '../core/errors/challenge.js';
import { ApiError } from '../core/errors/api-error.js';
import type { PlanLimits } from '../core/config/plan-table.js';
import { Settings } from '../core/config/settings.js';
import { setHeaders } from '../core/errors/write-refusal.js';
import { Outage } from '../database/outage.js';
import { unavailable } from '../database/unavailable.js';
import { TimeoutError, withTimeout } from '../events/limited-time.js';
import type { QuotaSubject } from '../throttling/quota.js';
import { AUTH_ERRORS } from './auth.errors.js';
import type { Caller } from './caller.js';
import { CredentialVerifier, type VerifiedCredential, clientIdOfUser } from './credential-verifier.js';

/** A bearer token (RFC 6750 section 2.1). */
const TOKEN = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/** Time limit for a verifier, in milliseconds. */
const MAX_MS = 10_000;
/** Never aborts. */
const NEVER = new AbortController().signal;
/** After this time without a failure, in milliseconds, the verifier counts as available again. */
const QUIET_MS = 60_000;
/** The default reason of a refusal. */
const UNVERIFIED = 'the credential cannot be verified';

/** Verifies credentials other than API keys, if a module provides a CredentialVerifier. */
@Injectable()
export class OtherCredentials {
  /** The outage of the verifier, usually caused by an outage of its provider. */
  private readonly outage = new Outage<string>({
    startMessage: (reason) =>
      `Credentials cannot be verified: ${reason} Requests with these credentials are refused with 503.`,
    endMessage: (seconds, times) =>
      `Credentials can be verified again, after ${seconds} s; ${times} requests were refused.`,
    quietMs: QUIET_MS,
    level: 'warn',
    logger: new Logger('CredentialVerifier'),
  });

  constructor(
    private readonly quotas: ClientQuotas,
    private readonly settings: Settings,
    @Optional() readonly verifier?: CredentialVerifier,
  ) {}

  /** The token to verify; undefined for an API key, for anything but a bearer token, and without a CredentialVerifier. */
  tokenIn(authorization: string | undefined): string | undefined {
    if (!this.verifier || authorization === undefined) return undefined;
    const token = TOKEN.exec(authorization)?.[1];
    return token !== undefined && resemblesApiKey(token, this.settings.apiKeyPrefix) ? undefined : token;
  }

  /**
   * The user of a token, and the subject that its requests count for. Throws the errors of the verifier, invalid_api_key if it does not
   * accept the token, and service_unavailable if it takes longer than 10 seconds.
   */
  async verify(token: string, request: Request): Promise<{ caller: Caller; subject: QuotaSubject }> {
    const verified = await this.verified(token, request);
    if (!verified) throw new ApiError(AUTH_ERRORS.invalid_api_key);
    const { user, scopes, plan } = verified;
    if (user === '') throw new Error('The CredentialVerifier returned a user without a name.');
    const clientId = clientIdOfUser(user);
    const subject = this.quotas.policy.subjectOf({ id: clientId, user, plan }, this.limitsOf(verified));
    return { caller: { clientId, keyId: null, user, scopes }, subject };
  }

  /** Logs the provider's outage once, not for each request. */
  private async verified(token: string, request: Request): Promise<VerifiedCredential | undefined> {
    try {
      const result = this.verifier?.verify(token, request);
      return result instanceof Promise ? await inTime(result) : result;
    } catch (error) {
      if (!(error instanceof HttpException) || error.getStatus() !== 503) throw error;
      const refusal = error instanceof ApiError ? error : unavailable(UNVERIFIED, error);
      this.outage.note(() => reasonOf(error));
      refusal.isLogged = true;
      throw refusal;
    }
  }

  private limitsOf({ plan, limits }: VerifiedCredential): PlanLimits {
    if (plan !== 'enterprise') return this.quotas.policy.limitsOf(plan);
    if (limits) return limits;
    throw new Error('The CredentialVerifier returned a user of the plan enterprise without limits.');
  }
}

async function inTime<T>(result: Promise<T>): Promise<T> {
  try {
    return await withTimeout(MAX_MS, NEVER, () => result);
  } catch (error) {
    throw error instanceof TimeoutError ? unavailable(UNVERIFIED, error) : error;
  }
}

/** The most specific reason of a refusal, as a sentence. */
function reasonOf({ message, cause }: Error): string {
  const reason = cause instanceof Error ? cause.message : message;
  return reason.endsWith('.') ? reason : `${reason}.`;
}

/** Adds the scheme to a refused credential, as RFC 9110 section 11.6.1 requires. A header of the refusal takes precedence. */
export function challenge(refusal: HttpException, response: Response): void {
  const header = refusal.getStatus() === 401 ? CHALLENGE_AFTER_CREDENTIAL : CHALLENGE;
  setHeaders(response, { 'WWW-Authenticate': header });
}

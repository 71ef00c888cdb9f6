import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { ClientQuotas } from './clients/client-quotas.js';
import { quotaSubjectOf } from '../throttling/quota-policy.js';
import { QuotaService } from '../throttling/quota.service.js';
import type { QuotaSubject } from '../throttling/quota.js';
import { ApiKeyVerifier } from './api-key.verifier.js';

/** The rate-limit headers of a request that is refused before its credential is verified. */
@Injectable()
export class RateLimitHeaders {
  constructor(
    private readonly verifier: ApiKeyVerifier,
    private readonly quotas: ClientQuotas,
    private readonly quota: QuotaService,
  ) {}

  /**
   * The headers, without counting or querying: for the key if it is cached, otherwise for the address. Empty if the counters cannot be
   * read.
   */
  async headersFor(request: Request): Promise<Readonly<Record<string, string>>> {
    return this.quota.headersFor(this.subjectOf(request)).catch(() => ({}));
  }

  private subjectOf(request: Request): QuotaSubject {
    const key = this.verifier.lastRead(request.headers.authorization);
    return key ? { ...this.quotas.subjectOf(key.client), keyId: key.id } : quotaSubjectOf(request);
  }
}

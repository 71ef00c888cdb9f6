import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { QuotaStore } from '../quota-store.js';
import type { QuotaRequest, QuotaVerdict } from '../quota.js';
import type { RedisLink } from './redis-link.js';

/**
 * Counts in Redis, and in this process while Redis fails: then at the limit divided by the instances last seen,
 * so that together they admit no more than the plan. No request fails for want of Redis.
 */
export class ResilientQuotaStore extends QuotaStore implements OnApplicationBootstrap, OnModuleDestroy {
  constructor(
    private readonly link: RedisLink,
    private readonly shared: QuotaStore,
    private readonly alone: QuotaStore,
  ) {
    super();
  }

  take(request: QuotaRequest, now: number): Promise<QuotaVerdict> {
    return this.decide((store, asked) => store.take(asked, now), request);
  }

  peek(request: QuotaRequest, now: number): Promise<QuotaVerdict> {
    return this.decide((store, asked) => store.peek(asked, now), request);
  }

  async unban(keyId: string, subjectId: string, now: number): Promise<void> {
    await this.alone.unban(keyId, subjectId, now);
    await this.shared.unban(keyId, subjectId, now);
  }

  onApplicationBootstrap(): void {
    this.link.tell();
  }

  async onModuleDestroy(): Promise<void> {
    await this.link.close();
  }

  private async decide(
    ask: (store: QuotaStore, request: QuotaRequest) => QuotaVerdict | Promise<QuotaVerdict>,
    request: QuotaRequest,
  ): Promise<QuotaVerdict> {
    if (this.link.isUp) {
      try {
        return await ask(this.shared, request);
      } catch (error) {
        this.link.failed(error);
      }
    }
    return ask(this.alone, shareOf(request, this.link.instances));
  }
}

/** The request with each limit divided by the number of instances, but never less than 1. */
function shareOf(request: QuotaRequest, instances: number): QuotaRequest {
  if (instances === 1) return request;
  const windows = request.windows.map((window) => ({
    ...window,
    limit: Math.max(1, Math.floor(window.limit / instances)),
  }));
  return { ...request, windows };
}

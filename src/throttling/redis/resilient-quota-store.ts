import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { UnsavedChanges } from '../memory/unsaved-changes.js';
import { QuotaStore } from '../quota-store.js';
import { DAY_MS, MINUTE_MS, type QuotaRequest, type QuotaVerdict } from '../quota.js';
import type { RedisLink } from './redis-link.js';

/**
 * Counts in Redis, and in this process while Redis fails: then at the limit divided by the instances last seen,
 * so that together they admit no more than the plan. No request fails for want of Redis. What this instance admits is
 * noted for the journal, where the days of all instances add up.
 */
export class ResilientQuotaStore extends QuotaStore implements OnApplicationBootstrap, OnModuleDestroy {
  constructor(
    private readonly link: RedisLink,
    private readonly shared: QuotaStore,
    private readonly alone: QuotaStore,
    private readonly unsaved: UnsavedChanges,
  ) {
    super();
  }

  async take(request: QuotaRequest, now: number): Promise<QuotaVerdict> {
    const verdict = await this.decide((store, asked, at) => store.take(asked, at), request, now);
    if (verdict.admitted && request.isClient) this.note(request, now);
    return verdict;
  }

  peek(request: QuotaRequest, now: number): Promise<QuotaVerdict> {
    return this.decide((store, asked, at) => store.peek(asked, at), request, now);
  }

  async unban(keyId: string, subjectId: string, now: number): Promise<void> {
    await this.alone.unban(keyId, subjectId, now);
    await this.shared.unban(keyId, subjectId, now);
  }

  override clockStepped(by: number): void {
    this.alone.clockStepped(by);
  }

  onApplicationBootstrap(): void {
    this.link.tell();
  }

  async onModuleDestroy(): Promise<void> {
    await this.link.close();
  }

  private note({ subject, windows }: QuotaRequest, now: number): void {
    if (!windows.some(({ key, lengthMs }) => key === subject && lengthMs === DAY_MS)) return;
    this.unsaved.noteCount(subject, now - (now % MINUTE_MS), now - (now % DAY_MS));
  }

  private async decide(
    ask: (store: QuotaStore, request: QuotaRequest, now: number) => QuotaVerdict | Promise<QuotaVerdict>,
    request: QuotaRequest,
    now: number,
  ): Promise<QuotaVerdict> {
    const began = performance.now();
    if (this.link.isUp) {
      try {
        return await ask(this.shared, request, now);
      } catch (error) {
        this.link.failed(error);
      }
    }
    // It may have waited across the end of a window, which must not be opened again for others.
    const waited = performance.now() - began;
    return ask(this.alone, shareOf(request, this.link.instances), now + Math.floor(waited));
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

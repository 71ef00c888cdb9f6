import type { OnModuleDestroy } from '@nestjs/common';
import type { Clock } from '../../core/time/clock.js';
import type { Metrics } from '../../core/metrics/metrics.js';
import { unavailable } from '../../database/unavailable.js';
import { BAN_RULES, type BanRules, banUntil } from '../bans.js';
import type { MemoryQuotaStore } from '../memory/memory-quota-store.js';
import type { QuotaJournal } from '../memory/quota-journal.js';
import { QuotaStore } from '../quota-store.js';
import { DAY_MS, MINUTE_MS } from '../../core/time/duration.js';
import type { QuotaRequest, QuotaVerdict } from '../quota.js';
import { type RedisLocation, isClusterUrl } from './redis-client.js';
import { RedisKeys } from './redis-keys.js';
import { RedisLink } from './redis-link.js';
import { RedisQuotaStore } from './redis-quota-store.js';

/** Where and how to count in Redis. */
interface RedisSettings {
  readonly location: RedisLocation;
  readonly prefix: string;
  /** Time limit for a command, in milliseconds. */
  readonly limitMs: number;
  readonly rules?: BanRules;
}

/**
 * Counts in Redis and, during an outage, in this process. Each instance then admits at most the limit divided by the last known number of
 * instances. No request fails or waits because Redis is unavailable. The two counts are separate. Local counts remain until their window
 * ends, so that a flapping Redis does not reset them. Admitted requests also go to the journal, which sums the days of all instances.
 */
export class ResilientQuotaStore extends QuotaStore implements OnModuleDestroy {
  constructor(
    private readonly link: RedisLink,
    private readonly sharedStore: QuotaStore,
    private readonly localStore: MemoryQuotaStore,
    clock: Clock,
    private readonly rules: BanRules,
    private readonly journal?: QuotaJournal,
  ) {
    super(clock);
  }

  /** Connects to Redis. Resolves even if Redis is unavailable. The journal records daily counts. */
  static async open(
    { location, prefix, limitMs, rules = BAN_RULES }: RedisSettings,
    localStore: MemoryQuotaStore,
    metrics: Metrics,
    clock: Clock,
    journal?: QuotaJournal,
  ): Promise<ResilientQuotaStore> {
    const keys = new RedisKeys(prefix, isClusterUrl(location.url));
    const link = new RedisLink(location, keys, metrics, clock, limitMs);
    const sharedStore = new RedisQuotaStore(link.redis, keys, clock, rules);
    await link.open(() => sharedStore.probe());
    return new ResilientQuotaStore(link, sharedStore, localStore, clock, rules, journal);
  }

  /** Counts this process as one of the instances that share limits during an outage of Redis. */
  join(): void {
    this.link.join();
  }

  override get countsIn(): string | undefined {
    return this.link.dataName;
  }

  async take(request: QuotaRequest, now: number): Promise<QuotaVerdict> {
    const verdict = await this.decide('take', request, now);
    if (verdict.admitted && request.isClient) this.note(request, now);
    return verdict;
  }

  peek(request: QuotaRequest, now: number): Promise<QuotaVerdict> {
    return this.decide('peek', request, now);
  }

  async unban(keyId: string, subjectId: string, now: number): Promise<void> {
    if (this.link.isUp) {
      try {
        await this.sharedStore.unban(keyId, subjectId, now);
        return this.localStore.forgetBan(keyId);
      } catch (error) {
        this.link.failed(error);
      }
    }
    throw unavailable('the ban cannot be lifted while Redis is unavailable', undefined, true);
  }

  async onModuleDestroy(): Promise<void> {
    await this.link.close();
  }

  private async decide(op: 'take' | 'peek', request: QuotaRequest, now: number): Promise<QuotaVerdict> {
    const startedAt = this.clock.steady();
    if (this.link.isUp) {
      try {
        const verdict = await this.sharedStore[op](request, now);
        this.recordBan(request, verdict);
        return verdict;
      } catch (error) {
        this.link.failed(error);
      }
    }
    // A window may have ended during the wait; decided at the old time, the request would make it current again.
    return this.decideAlone(op, request, now + Math.floor(this.clock.steady() - startedAt));
  }

  /** A refusal by a share of the limit is not a strike, so the key is omitted unless it is banned. */
  private async decideAlone(op: 'take' | 'peek', request: QuotaRequest, now: number): Promise<QuotaVerdict> {
    const { instances } = this.link;
    const windows = request.windows.map((window) => ({
      ...window,
      limit: Math.max(1, Math.floor(window.limit / instances)),
    }));
    const share = { ...request, windows };
    const { bannedUntil } = await this.localStore.peek(share, now);
    return this.localStore[op](bannedUntil === undefined ? { ...share, keyId: undefined } : share, now);
  }

  /** Records the key's ban from Redis for use during an outage. */
  private recordBan({ keyId }: QuotaRequest, { bannedUntil, at }: QuotaVerdict): void {
    if (keyId === undefined) return;
    this.localStore.forgetBan(keyId);
    if (bannedUntil !== undefined)
      this.localStore.restoreBans([{ keyId, state: banUntil(bannedUntil, at, this.rules) }], at);
  }

  private note({ subject, windows }: QuotaRequest, now: number): void {
    if (!windows.some(({ key, lengthMs }) => key === subject && lengthMs === DAY_MS)) return;
    this.journal?.noteCount(subject, now - (now % MINUTE_MS), now - (now % DAY_MS));
  }
}

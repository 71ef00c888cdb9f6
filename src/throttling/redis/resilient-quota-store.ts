import type { OnModuleDestroy } from '@nestjs/common';
import type { Clock } from '../../core/time/clock.js';
import type { Metrics } from '../../core/metrics/metrics.js';
import { BAN_RULES, type BanRules, bansOf } from '../bans.js';
import type { MemoryQuotaStore } from '../memory/memory-quota-store.js';
import type { QuotaJournal } from '../memory/quota-journal.js';
import { QuotaStore } from '../quota-store.js';
import { DAY_MS, MINUTE_MS } from '../../core/time/duration.js';
import type { QuotaRequest, QuotaVerdict } from '../quota.js';
import { KnownCounts, shareOf } from './known-counts.js';
import { type RedisLocation, isClusterUrl } from './redis-client.js';
import { RedisKeys } from './redis-keys.js';
import { RedisLink } from './redis-link.js';
import { RedisQuotaStore } from './redis-quota-store.js';

/** Where and how to count in Redis. */
interface RedisSettings {
  readonly location: RedisLocation;
  /** Every key begins with it. */
  readonly prefix: string;
  /** A response that takes longer is late, in milliseconds. */
  readonly limitMs: number;
  readonly rules?: BanRules;
}

/**
 * Counts in Redis, and in this process while Redis fails. Then each instance continues from what Redis last answered and admits its
 * share of what was left, so that together they admit no more than the plan allows. No request fails because Redis is unavailable.
 * Admitted requests are also noted for the journal, which adds up the days of all instances.
 */
export class ResilientQuotaStore extends QuotaStore implements OnModuleDestroy {
  private readonly known: KnownCounts;

  constructor(
    private readonly link: RedisLink,
    private readonly shared: RedisQuotaStore,
    private readonly alone: MemoryQuotaStore,
    clock: Clock,
    private readonly rules: BanRules,
    private readonly journal?: QuotaJournal,
  ) {
    super(clock);
    this.known = new KnownCounts(rules);
  }

  /** Connects to Redis. Resolves when it is unavailable, too. The journal notes days. */
  static async open(
    { location, prefix, limitMs, rules = BAN_RULES }: RedisSettings,
    alone: MemoryQuotaStore,
    metrics: Metrics,
    clock: Clock,
    journal?: QuotaJournal,
  ): Promise<ResilientQuotaStore> {
    const keys = new RedisKeys(prefix, isClusterUrl(location.url));
    const link = new RedisLink(location, keys, metrics, clock, limitMs);
    const shared = new RedisQuotaStore(link.redis, keys, clock, rules, link.late.inTime);
    const store = new ResilientQuotaStore(link, shared, alone, clock, rules, journal);
    shared.onLoss = () => link.owe();
    await link.open({ probe: () => shared.probe(), handOver: () => store.handOver() });
    return store;
  }

  /** From now on this process is one of the instances that share a limit when Redis fails: it serves. */
  join(): void {
    this.link.join();
  }

  override get countsIn(): string | undefined {
    return this.link.dataName;
  }

  async take(request: QuotaRequest, now: number): Promise<QuotaVerdict> {
    const verdict = await this.decide(
      (at) => this.takeShared(request, at),
      (at) => this.takeAlone(request, at),
      now,
    );
    if (verdict.admitted && request.isClient) this.note(request, now);
    return verdict;
  }

  peek(request: QuotaRequest, now: number): Promise<QuotaVerdict> {
    return this.decide(
      (at) => this.shared.peek(request, at),
      async (at) => {
        const share = shareOf(request, this.known.of(request, at), this.link.instances.number);
        return this.reported(await this.alone.peek(share, at), request);
      },
      now,
    );
  }

  async unban(keyId: string, subjectId: string, now: number): Promise<void> {
    await this.shared.unban(keyId, subjectId);
    this.known.forgetBan(keyId);
    await this.alone.unban(keyId, subjectId, now);
  }

  async onModuleDestroy(): Promise<void> {
    await this.link.close();
  }

  private async decide(
    inRedis: (now: number) => Promise<QuotaVerdict>,
    alone: (now: number) => Promise<QuotaVerdict>,
    now: number,
  ): Promise<QuotaVerdict> {
    const began = this.clock.steady();
    // The wait may have passed the end of a window: decided at the old time, it would make that window current again.
    const later = () => now + Math.floor(this.clock.steady() - began);
    if (this.link.isUp) {
      try {
        return await inRedis(now);
      } catch (error) {
        this.link.failed(error);
      }
    }
    return alone(later());
  }

  private async takeShared(request: QuotaRequest, now: number): Promise<QuotaVerdict> {
    const known = this.known.of(request, now);
    const verdict = await this.shared.take(
      request,
      now,
      known.map(({ seen }) => seen),
    );
    for (const [index, count] of known.entries()) {
      const used = verdict.windows[index]?.used ?? 0;
      if (used < count.seen) this.link.owe();
      else count.seen = used;
    }
    if (this.known.learnBan(request, verdict, false)) this.followBan(request, verdict);
    return verdict;
  }

  private async takeAlone(request: QuotaRequest, now: number): Promise<QuotaVerdict> {
    const known = this.known.of(request, now);
    const verdict = await this.alone.take(shareOf(request, known, this.link.instances.number), now);
    if (verdict.admitted && known.length > 0) {
      for (const count of known) count.alone += 1;
      this.link.owe();
    }
    if (verdict.bannedUntil !== undefined && this.known.learnBan(request, verdict, true)) this.link.owe();
    return this.reported(verdict, request);
  }

  /** The reported limit is the share of the plan that this instance may admit in a whole window; what remains is as decided. */
  private reported(verdict: QuotaVerdict, request: QuotaRequest): QuotaVerdict {
    const windows = verdict.windows.map((state, index) => {
      const whole = request.windows[index]?.limit ?? state.limit;
      const limit = Math.max(1, Math.floor(whole / this.link.instances.number));
      return { ...state, limit, used: limit - state.remaining };
    });
    return { ...verdict, windows };
  }

  /** Gives Redis what this instance knows, and forgets the bans that were lifted elsewhere. */
  private async handOver(): Promise<void> {
    for (const keyId of await this.shared.handOver(this.known.all(), this.known.runningBans())) {
      this.known.forgetBan(keyId);
      this.alone.forgetBan(keyId);
    }
  }

  /** Copies a ban from Redis into the local store, which decides when Redis fails. */
  private followBan({ keyId = '' }: QuotaRequest, { bannedUntil, at }: QuotaVerdict): void {
    this.alone.forgetBan(keyId);
    if (bannedUntil === undefined) return;
    const state = {
      bannedUntil,
      retryAt: bannedUntil,
      lastStrikeAt: bannedUntil,
      bans: bansOf(bannedUntil - at, this.rules),
      strikes: 0,
      forgivenUntil: 0,
    };
    this.alone.restoreBans([{ keyId, state }], at);
  }

  private note({ subject, windows }: QuotaRequest, now: number): void {
    if (!windows.some(({ key, lengthMs }) => key === subject && lengthMs === DAY_MS)) return;
    this.journal?.noteCount(subject, now - (now % MINUTE_MS), now - (now % DAY_MS));
  }
}

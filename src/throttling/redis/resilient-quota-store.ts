import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { Clock } from '../../core/time/clock.js';
import type { DataVersion } from '../../database/data-version.js';
import { SharedDataVersion } from '../../database/shared-data-version.js';
import type { Metrics } from '../../core/metrics/metrics.js';
import { BAN_RULES } from '../bans.js';
import type { MemoryQuotaStore } from '../memory/memory-quota-store.js';
import { QuotaStore } from '../quota-store.js';
import { DAY_MS, MINUTE_MS, type QuotaRequest, type QuotaVerdict } from '../quota.js';
import { Handover } from './handover.js';
import { type KnownCount, KnownCounts } from './known-counts.js';
import { type RedisPlace, isClusterUrl } from './redis-client.js';
import { RedisKeys } from './redis-keys.js';
import { RedisHandover } from './redis-handover.js';
import { RedisLink } from './redis-link.js';
import { RedisStateLink } from './redis-state-link.js';
import { RedisQuotaStore } from './redis-quota-store.js';
import { divide, reportedVerdict, shareOf } from './shares.js';

/**
 * Counts in Redis, and in this process while Redis fails. Then each instance continues from what Redis last answered and admits its
 * share of what was left, so that together they admit no more than the plan allows. No request fails because Redis is away.
 * Admitted requests are also noted for the journal, which adds up the days of all instances.
 */
export class ResilientQuotaStore extends QuotaStore implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly known = new KnownCounts();

  constructor(
    private readonly link: RedisLink,
    private readonly shared: RedisQuotaStore,
    private readonly alone: MemoryQuotaStore,
    clock: Clock,
  ) {
    super(clock);
  }

  /**
   * Connects to Redis; every key begins with the prefix, and Redis fails when several answers in a row take longer than `limitMs`.
   * Resolves when Redis is away, too. A data version that instances share is told by it.
   */
  static async open(
    { place, prefix, limitMs }: { place: RedisPlace; prefix: string; limitMs: number },
    alone: MemoryQuotaStore,
    metrics: Metrics,
    clock: Clock,
    version?: DataVersion,
  ): Promise<ResilientQuotaStore> {
    const keys = new RedisKeys(prefix, isClusterUrl(place.url));
    const link = new RedisLink(place, keys, { metrics, clock, limitMs });
    const shared = new RedisQuotaStore(link.redis, keys, clock, BAN_RULES, link.late.inTime);
    const store = new ResilientQuotaStore(link, shared, alone, clock);
    const handover = new Handover(store.known, new RedisHandover(link.redis, keys));
    shared.onLoss = () => link.lost();
    if (version instanceof SharedDataVersion) {
      shared.onNames = (names) => {
        if (link.isUp) version.heard(names);
      };
      new RedisStateLink(link, keys, clock).serve(version);
    }
    await link.open({ probe: () => shared.probe(), handOver: (all) => handover.run(all) });
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
        const verdict = await this.alone.peek(this.shareOf(request, this.known.of(request, at)), at);
        return reportedVerdict(verdict, request, this.link.instances.number);
      },
      now,
    );
  }

  async unban(keyId: string, subjectId: string, now: number): Promise<void> {
    this.known.forgetBan(keyId);
    await this.alone.unban(keyId, subjectId, now);
    await this.shared.unban(keyId, subjectId);
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

  private async decide(
    inRedis: (now: number) => Promise<QuotaVerdict>,
    alone: (now: number) => Promise<QuotaVerdict>,
    now: number,
  ): Promise<QuotaVerdict> {
    const began = this.clock.steady();
    // The wait may have passed the end of a window: decided at the old time, it would make that window current again.
    const later = () => now + Math.floor(this.clock.steady() - began);
    const { doubt } = this.link.late;
    // What is sent to a Redis that fails may be counted there, too, when it goes on.
    if (doubt) await doubt;
    if (this.link.isUp) {
      try {
        return await inRedis(doubt ? later() : now);
      } catch (error) {
        this.link.failed(error);
      }
    }
    return alone(later());
  }

  private async takeShared(request: QuotaRequest, now: number): Promise<QuotaVerdict> {
    const known = this.known.of(request, now);
    const isReturning = this.link.isReturning;
    if (isReturning) {
      // Others that are not back admit their shares yet, which Redis does not know of: this one keeps to its own.
      const share = await this.alone.take(this.shareOf(request, known), now);
      if (!share.admitted) return this.reported(share, request);
    }
    const seen = known.map((count) => count.seen);
    const verdict = await this.shared.take(request, now, seen);
    if (isReturning && verdict.admitted) this.known.admittedInBoth(known);
    if (this.known.learn(known, verdict)) this.link.lost();
    if (this.known.learnBan(request, verdict)) this.followBan(request, verdict);
    return verdict;
  }

  private async takeAlone(request: QuotaRequest, now: number): Promise<QuotaVerdict> {
    const known = this.known.of(request, now);
    const verdict = await this.alone.take(this.shareOf(request, known), now);
    if (verdict.admitted) this.known.admittedAlone(known);
    return this.reported(verdict, request);
  }

  private shareOf(request: QuotaRequest, known: readonly KnownCount[]): QuotaRequest {
    divide(known, this.link.epoch);
    return shareOf(request, known, this.link.instances.number);
  }

  /** A verdict of the local store as clients are told it. */
  private reported(verdict: QuotaVerdict, request: QuotaRequest): QuotaVerdict {
    if (verdict.bannedUntil !== undefined) this.known.learnBan(request, verdict);
    return reportedVerdict(verdict, request, this.link.instances.number);
  }

  /** Copies a ban from Redis into the local store, which decides when Redis fails. */
  private followBan({ keyId = '' }: QuotaRequest, { bannedUntil, at }: QuotaVerdict): void {
    this.alone.forgetBan(keyId);
    if (bannedUntil === undefined) return;
    const state = {
      bannedUntil,
      retryAt: bannedUntil,
      lastStrikeAt: bannedUntil,
      bans: 1,
      strikes: 0,
      forgivenUntil: 0,
    };
    this.alone.restoreBans([{ keyId, state }], at);
  }

  private note({ subject, windows }: QuotaRequest, now: number): void {
    if (!windows.some(({ key, lengthMs }) => key === subject && lengthMs === DAY_MS)) return;
    this.alone.unsaved.noteCount(subject, now - (now % MINUTE_MS), now - (now % DAY_MS));
  }
}

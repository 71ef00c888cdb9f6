import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../clock.js';
import { OneAtATime } from '../../database/one-at-a-time.js';
import { Settings } from '../../config/settings.js';
import { MemoryQuotaStore } from './memory-quota-store.js';
import { QuotaJournal } from './quota-journal.js';

/** How often changes are written, in milliseconds: a crash loses at most what was admitted since. */
const PERIOD_MS = 1_000;
/** How far back lifted bans are looked for, in milliseconds: clocks of two processes differ a little. */
const LIFTED_MARGIN_MS = 5_000;

/** Carries the counters of a MemoryQuotaStore to its journal, and bans lifted by other processes back. */
@Injectable()
export class QuotaWriteBehind implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('Quota');
  private timer: NodeJS.Timeout | undefined;
  private readonly writes = new OneAtATime(() => this.write());
  private failing = false;
  /** When bans were last looked for, and those that were found, in ms since the Unix epoch. */
  private lookedAt = Number.POSITIVE_INFINITY;
  private taken = new Map<string, number>();

  constructor(
    private readonly store: MemoryQuotaStore,
    private readonly journal: QuotaJournal,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  /** Takes up bans from before the start, then writes every second. */
  async onModuleInit(): Promise<void> {
    if (this.countsAlone) {
      const now = this.clock.now();
      this.store.restoreBans(await this.journal.bans(now), now);
    }
    this.timer = setInterval(() => void this.flush(), PERIOD_MS);
    // Counters alone keep no process alive.
    this.timer.unref();
  }

  /** Writes what has changed; on failure it is kept for the next time. Never throws. */
  flush(): Promise<void> {
    return this.writes.run();
  }

  /** Runs before the database closes. */
  async onModuleDestroy(): Promise<void> {
    if (this.timer === undefined) return;
    clearInterval(this.timer);
    await this.flush();
  }

  private async write(): Promise<void> {
    const changes = this.store.unsaved.drain();
    try {
      const lifted = new Set(await this.liftedBans());
      for (const keyId of lifted) this.store.forgetBan(keyId);
      const bans = changes.bans.filter(({ keyId }) => !lifted.has(keyId));
      if (changes.counts.length > 0 || bans.length > 0) await this.journal.write(changes.counts, bans);
      if (this.failing) this.logger.log('Counters are written again');
      this.failing = false;
    } catch (error) {
      this.store.unsaved.putBack(changes);
      if (!this.failing) this.logger.error('Counters cannot be written; they are kept in memory', error);
      this.failing = true;
    }
  }

  /** Redis shares bans by itself; the journal then only keeps the counts of the days for those who ask for them. */
  private get countsAlone(): boolean {
    return this.settings.redisUrl === null;
  }

  private async liftedBans(): Promise<string[]> {
    if (!this.countsAlone) return [];
    const now = this.clock.now();
    // The clock may have been set: forward, and what was lifted just before is long past; back, and it stays new for long.
    const lifted = await this.journal.liftedSince(Math.min(now, this.lookedAt) - LIFTED_MARGIN_MS);
    const fresh = lifted.filter(({ keyId, at }) => this.taken.get(keyId) !== at);
    this.taken = new Map(lifted.map(({ keyId, at }) => [keyId, at]));
    this.lookedAt = now;
    return fresh.map(({ keyId }) => keyId);
  }
}

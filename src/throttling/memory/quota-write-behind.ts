import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../core/time/clock.js';
import { Settings } from '../../core/config/settings.js';
import { WriteBehind } from '../../database/write-behind.js';
import { MemoryQuotaStore } from './memory-quota-store.js';
import { QuotaJournal } from './quota-journal.js';

/** Overlap between two queries for lifted bans, in milliseconds, because the clocks of two processes may differ a little. */
const LIFTED_MARGIN_MS = 5_000;

/** Writes the counters of a MemoryQuotaStore to its journal, and reads from it which bans other processes have lifted. */
@Injectable()
export class QuotaWriteBehind extends WriteBehind {
  /** When lifted bans were last queried, and the instants of those that were found, in ms since the Unix epoch. */
  private lookedAt = Number.POSITIVE_INFINITY;
  private taken = new Map<string, number>();

  constructor(
    private readonly store: MemoryQuotaStore,
    private readonly journal: QuotaJournal,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {
    super(new Logger('Quota'), {
      failing: 'Counters cannot be written; they are kept in memory',
      recovered: 'Counters are written again',
    });
  }

  /** Restores the bans from the journal, then writes every second. */
  override async onModuleInit(): Promise<void> {
    if (this.countsAlone) {
      const now = this.clock.now();
      this.store.restoreBans(await this.journal.bans(now), now);
    }
    super.onModuleInit();
  }

  protected override async write(): Promise<void> {
    const changes = this.store.unsaved.drain();
    try {
      const lifted = new Set(await this.liftedBans());
      for (const keyId of lifted) this.store.forgetBan(keyId);
      const bans = changes.bans.filter(({ keyId }) => !lifted.has(keyId));
      if (changes.counts.length > 0 || bans.length > 0) await this.journal.write(changes.counts, bans);
    } catch (error) {
      this.store.unsaved.putBack(changes);
      throw error;
    }
  }

  /** With Redis, bans are shared there, and the journal only keeps the counts per day for reports. */
  private get countsAlone(): boolean {
    return this.settings.redisUrl === null;
  }

  private async liftedBans(): Promise<string[]> {
    if (!this.countsAlone) return [];
    const now = this.clock.now();
    // The clock may have been set. After a step forward, a ban lifted just before has an old instant, so the query starts at the
    // earlier time; after a step back, one is found again and again, so those already handled are left out below.
    const lifted = await this.journal.liftedSince(Math.min(now, this.lookedAt) - LIFTED_MARGIN_MS);
    const fresh = lifted.filter(({ keyId, at }) => this.taken.get(keyId) !== at);
    this.taken = new Map(lifted.map(({ keyId, at }) => [keyId, at]));
    this.lookedAt = now;
    return fresh.map(({ keyId }) => keyId);
  }
}

import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../clock.js';
import { Settings } from '../../config/settings.js';
import { WriteBehind } from '../../database/write-behind.js';
import { MemoryQuotaStore } from './memory-quota-store.js';
import { QuotaJournal } from './quota-journal.js';

/** How far back lifted bans are looked for, in milliseconds: clocks of two processes differ a little. */
const LIFTED_MARGIN_MS = 5_000;

/** Carries the counters of a MemoryQuotaStore to its journal, and bans lifted by other processes back. */
@Injectable()
export class QuotaWriteBehind extends WriteBehind {
  /** When bans were last looked for, and those that were found, in ms since the Unix epoch. */
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

  /** Takes up bans from before the start, then writes every second. */
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

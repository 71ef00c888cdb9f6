import { randomUUID } from 'node:crypto';
import type { KnownCount, KnownCounts } from './known-counts.js';
import type { RedisQuotaStore } from './redis-quota-store.js';

/** Most counts in one command: Redis serves nobody else while it runs. */
const LARGEST_BATCH = 500;

/** Counts on their way to Redis, with what was admitted alone when they were sent first. */
export interface Batch {
  readonly id: string;
  readonly counts: readonly { readonly known: KnownCount; readonly alone: number }[];
}

/**
 * Hands over to Redis what this instance knows of counts and bans: what it admitted alone, and everything when Redis
 * may have lost it. A batch without an answer is sent again under its id, which Redis takes once.
 */
export class Handover {
  private unanswered: Batch | undefined;

  constructor(
    private readonly known: KnownCounts,
    private readonly shared: RedisQuotaStore,
  ) {}

  /** Hands over what is to be; with `all`, everything that is known. Rejects when Redis fails it. */
  async run(all: boolean): Promise<void> {
    await this.send();
    if (all) {
      this.known.noteAllToHandOver();
      const bans = this.known.runningBans();
      while (bans.length > 0) await this.shared.handOver(randomUUID(), [], bans.splice(0, LARGEST_BATCH));
    }
    for (;;) {
      const taken = this.known.takeToHandOver(LARGEST_BATCH);
      if (taken.length === 0) return;
      const counts = taken.map((known) => ({ known, alone: known.alone - known.handedOver }));
      this.unanswered = { id: randomUUID(), counts };
      await this.send();
    }
  }

  private async send(): Promise<void> {
    if (!this.unanswered) return;
    const { id, counts } = this.unanswered;
    const told = counts.map(({ known, alone }) => ({ known, seen: known.seen, alone }));
    const used = await this.shared.handOver(id, told, []);
    for (const [index, { known, alone }] of counts.entries()) {
      known.handedOver += alone;
      known.seen = Math.max(known.seen, used[index] ?? 0);
    }
    this.unanswered = undefined;
  }
}

import { randomUUID } from 'node:crypto';
import type { KnownCount, KnownCounts } from './known-counts.js';
import type { RedisHandover } from './redis-handover.js';

/** Most counts in one command: while it runs, Redis serves no other client. */
const LARGEST_BATCH = 500;

/** Counts that were sent to Redis, with what had been admitted locally when the batch was first sent. */
export interface Batch {
  readonly id: string;
  readonly counts: readonly { readonly known: KnownCount; readonly alone: number }[];
}

/**
 * Sends to Redis what this instance knows of counts and bans: what it admitted locally during an outage, and everything it knows
 * when Redis may have lost its data. A batch that was not answered is sent again under the same id, which Redis applies only once.
 */
export class Handover {
  private unanswered: Batch | undefined;

  constructor(
    private readonly known: KnownCounts,
    private readonly redis: RedisHandover,
  ) {}

  /** Sends what Redis does not have; with `all`, everything that is known. Rejects when Redis fails. */
  async run(all: boolean): Promise<void> {
    await this.send();
    if (all) {
      this.known.noteAllToHandOver();
      const bans = this.known.runningBans();
      while (bans.length > 0) await this.redis.send(randomUUID(), [], bans.splice(0, LARGEST_BATCH));
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
    const used = await this.redis.send(id, told, []);
    for (const [index, { known, alone }] of counts.entries()) {
      known.handedOver += alone;
      known.seen = Math.max(known.seen, used[index] ?? 0);
    }
    this.unanswered = undefined;
  }
}

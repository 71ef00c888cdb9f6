import type { QuotaThreshold } from './throttling.events.js';
import type { WindowState } from './quota.js';

/** Shares of a window, in percent, that are told when they are used up; the first is the least. */
export const THRESHOLDS = [80, 100] as const;

/** From how many entries on those of past windows are looked for. */
const FEW = 1_000;

/** Whether at least the first threshold of a window is reached: asked of every request, so it is a comparison. */
export function isNoteworthy({ used, limit }: WindowState): boolean {
  return used * 100 >= limit * THRESHOLDS[0];
}

/** Knows which thresholds this process has told of in the windows that still run. */
export class QuotaThresholds {
  /** When the window ends in which a threshold was told, by client, window, limit and threshold. */
  private readonly told = new Map<string, number>();
  private searchedFrom = FEW;

  /**
   * The thresholds that a window of a client has reached and that were not told of yet, the least first; they count as told from now
   * on. A limit that was changed within the window has thresholds of its own. `now` is in ms since the Unix epoch.
   */
  reached(clientId: string, { name, used, limit, resetsAt }: WindowState, now: number): QuotaThreshold[] {
    const reached: QuotaThreshold[] = [];
    for (const percent of THRESHOLDS) {
      const key = `${clientId} ${name} ${limit} ${percent}`;
      if (used * 100 < limit * percent || this.told.get(key) === resetsAt) continue;
      this.told.set(key, resetsAt);
      reached.push({
        clientId,
        window: name,
        percent,
        limit,
        used,
        resetsAt: new Date(resetsAt).toISOString(),
      });
    }
    if (this.told.size > this.searchedFrom) this.forgetPast(now);
    return reached;
  }

  /** How many thresholds are remembered. */
  get size(): number {
    return this.told.size;
  }

  /** Searched for again once there are twice as many, so that a search costs each entry little. */
  private forgetPast(now: number): void {
    for (const [key, resetsAt] of this.told) if (resetsAt <= now) this.told.delete(key);
    this.searchedFrom = Math.max(FEW, 2 * this.told.size);
  }
}

import type { QuotaThreshold } from './throttling.events.js';
import type { WindowState } from './quota.js';

/** Percentages of a window whose use is reported, in ascending order. */
export const THRESHOLDS = [80, 100] as const;

/** Whether at least the first threshold of a window is reached; a single comparison, because it is made for every request. */
export function isNoteworthy({ used, limit }: WindowState): boolean {
  return used * 100 >= limit * THRESHOLDS[0];
}

/** Remembers which thresholds this process has reported in the current windows. */
export class QuotaThresholds {
  /**
   * The highest percentage reported in the current window, by the name of the window, and then by client and limit. All windows with a
   * name end at the same instant.
   */
  private readonly reported = new Map<
    string,
    { readonly resetsAt: number; readonly percents: Map<string, number> }
  >();

  /**
   * The thresholds that a window of a client has reached since the last call, lowest first. A limit that is changed within the window
   * has new thresholds.
   */
  reached(clientId: string, { name, used, limit, resetsAt }: WindowState): QuotaThreshold[] {
    let reported = this.reported.get(name);
    if (reported?.resetsAt !== resetsAt)
      this.reported.set(name, (reported = { resetsAt, percents: new Map() }));
    const key = `${clientId} ${limit}`;
    const before = reported.percents.get(key) ?? 0;
    // A client that goes on after its last request is told nothing more.
    if (before === THRESHOLDS.at(-1)) return [];
    const fresh = THRESHOLDS.filter((percent) => percent > before && used * 100 >= limit * percent);
    reported.percents.set(key, fresh.at(-1) ?? before);
    return fresh.map((percent) => ({
      clientId,
      window: name,
      percent,
      limit,
      used,
      resetsAt: new Date(resetsAt).toISOString(),
    }));
  }
}

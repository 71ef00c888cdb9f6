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
  /** What was reported in the current window, by its name; all windows with a name end at the same instant. */
  private readonly reported = new Map<string, { readonly resetsAt: number; readonly keys: Set<string> }>();

  /**
   * The thresholds that a window of a client has reached since the last call, lowest first. A limit that is changed within the window
   * has new thresholds.
   */
  reached(clientId: string, { name, used, limit, resetsAt }: WindowState): QuotaThreshold[] {
    let reported = this.reported.get(name);
    if (reported?.resetsAt !== resetsAt) this.reported.set(name, (reported = { resetsAt, keys: new Set() }));
    const { keys } = reported;
    return THRESHOLDS.filter((percent) => {
      const key = `${clientId} ${limit} ${percent}`;
      if (used * 100 < limit * percent || keys.has(key)) return false;
      keys.add(key);
      return true;
    }).map((percent) => ({
      clientId,
      window: name,
      percent,
      limit,
      used,
      resetsAt: new Date(resetsAt).toISOString(),
    }));
  }
}

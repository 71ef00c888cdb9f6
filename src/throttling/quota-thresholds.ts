import type { QuotaThreshold } from './throttling.events.js';
import type { WindowState } from './quota.js';

/** Shares of a window, in percent, that are told when they are used up; the first is the least. */
export const THRESHOLDS = [80, 100] as const;

/** Whether at least the first threshold of a window is reached: asked of every request, so it is a comparison. */
export function isNoteworthy({ used, limit }: WindowState): boolean {
  return used * 100 >= limit * THRESHOLDS[0];
}

/** Knows which thresholds this process has told of in the windows that still run. */
export class QuotaThresholds {
  /** What was told in the current window, by the name of the window: all windows of one name end at the same instant. */
  private readonly told = new Map<string, { readonly resetsAt: number; readonly keys: Set<string> }>();

  /**
   * The thresholds that a window of a client has reached and that were not told of yet, the least first; they count as told from now
   * on. A limit that was changed within the window has thresholds of its own.
   */
  reached(clientId: string, { name, used, limit, resetsAt }: WindowState): QuotaThreshold[] {
    let told = this.told.get(name);
    if (told?.resetsAt !== resetsAt) this.told.set(name, (told = { resetsAt, keys: new Set() }));
    const { keys } = told;
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

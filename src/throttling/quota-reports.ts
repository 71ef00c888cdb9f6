import { MINUTE_MS } from '../core/time/duration.js';
import type { QuotaSubject, WindowState } from './quota.js';
import type { QuotaThreshold } from './throttling.events.js';

/** Percentages of a window at which an event is published, in ascending order. */
export const THRESHOLDS = [80, 100] as const;

/** Whether at least the first threshold of a window is reached; a single comparison, because it runs for every request. */
export function isNoteworthy({ used, limit }: WindowState): boolean {
  return used * 100 >= limit * THRESHOLDS[0];
}

/** The highest published threshold, and the limit that it is a percentage of. */
interface Report {
  readonly limit: number;
  readonly percent: number;
}

/** Remembers which thresholds this process has reported in the current windows. */
export class QuotaThresholds {
  /** The last report of each client in the current window, by the window's name. All windows with the same name end at the same time. */
  private readonly windows = new Map<string, { resetsAt: number; reports: Map<string, Report> }>();

  /**
   * The thresholds that a client has reached in a window since the last call, lowest first. If the limit changes within the window,
   * thresholds are reported again.
   */
  reached(clientId: string, { name, used, limit, resetsAt }: WindowState): QuotaThreshold[] {
    let window = this.windows.get(name);
    if (window?.resetsAt !== resetsAt) this.windows.set(name, (window = { resetsAt, reports: new Map() }));
    const last = window.reports.get(clientId);
    const reported = last?.limit === limit ? last.percent : 0;
    // Called for every refused request; nothing is new after the first.
    if (reported === THRESHOLDS[1]) return [];
    const percents = THRESHOLDS.filter((percent) => percent > reported && used * 100 >= limit * percent);
    const highest = percents.at(-1);
    if (highest !== undefined) window.reports.set(clientId, { limit, percent: highest });
    return percents.map((percent) => ({
      clientId,
      window: name,
      percent,
      limit,
      used,
      resetsAt: new Date(resetsAt).toISOString(),
    }));
  }
}

/** Headers and logging of a refused malformed request. */
export interface CountedRefusal {
  /** The rate-limit headers of its address. */
  readonly headers: Readonly<Record<string, string>>;
  readonly isLogged: boolean;
}

/** Number of addresses counted separately per minute. All others share one count, so that memory and the log stay bounded. */
const MAX_ADDRESSES = 10_000;

/** Counts log lines for clients without a valid key, by address and minute. Metrics count every request. */
export class AddressLines {
  private minute = Number.NaN;
  private readonly counts = new Map<string, number>();

  /** Counts a log line of an address; returns its number in the minute that contains `at` (ms since the Unix epoch). */
  count({ id }: QuotaSubject, at: number): number {
    const minute = Math.floor(at / MINUTE_MS);
    if (minute !== this.minute) this.counts.clear();
    this.minute = minute;
    const address = this.counts.size < MAX_ADDRESSES || this.counts.has(id) ? id : '';
    const count = (this.counts.get(address) ?? 0) + 1;
    this.counts.set(address, count);
    return count;
  }
}

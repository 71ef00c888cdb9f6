/** A step back of the clock up to this goes back into no window that has ended, in milliseconds. */
const HELD_MS = 60_000;

/** Whether a window is the current one: `now` is in it, or less than a minute before it because the clock was put back. */
export function isCurrent(start: number, lengthMs: number, now: number): boolean {
  return now >= start - HELD_MS && now < start + lengthMs;
}

/**
 * Counts of the current window of one length. All windows of one length end at the same instant, so that their
 * counts are dropped together: no timer, no scan, nothing kept of a window that has passed.
 */
export class WindowCounts {
  /** Start of the current window, in ms since the Unix epoch. */
  start = Number.NEGATIVE_INFINITY;
  private counts = new Map<string, number>();

  constructor(readonly lengthMs: number) {}

  /**
   * Turns to the window that `now` is in; the counts of one that has ended are dropped. A clock that was put back takes them
   * along: what was used up before stays so until the window ends that the clock is in now.
   */
  turnTo(now: number): void {
    if (isCurrent(this.start, this.lengthMs, now)) return;
    if (now >= this.start) this.counts = new Map();
    this.start = Math.floor(now / this.lengthMs) * this.lengthMs;
  }

  /** Requests counted for a key in the current window. */
  of(key: string): number {
    return this.counts.get(key) ?? 0;
  }

  /** Sets the count of a key; one that is new should come from CompactKeys. */
  set(key: string, used: number): void {
    this.counts.set(key, used);
  }
}

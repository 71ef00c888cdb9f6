/**
 * Counts of the current window of one length. All windows of one length end at the same instant, so that their
 * counts are dropped together: no timer, no scan, nothing kept of a window that has passed.
 */
export class WindowCounts {
  /** Start of the current window, in ms since the Unix epoch. */
  start = Number.NEGATIVE_INFINITY;
  private counts = new Map<string, number>();

  constructor(readonly lengthMs: number) {}

  /** Turns to the window that `now` is in; the counts of any other are dropped. */
  turnTo(now: number): void {
    if (now >= this.start && now < this.start + this.lengthMs) return;
    this.start = Math.floor(now / this.lengthMs) * this.lengthMs;
    this.counts = new Map();
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

/** When the clock is set back by up to this much, the current window stays current, in milliseconds. */
const HELD_MS = 60_000;

/**
 * Counts of the current window of one length, by key. All windows of one length end at the same instant, so all counts are dropped
 * together; no timer and no scan is needed, and nothing of a past window is kept.
 */
export class WindowCounts {
  /** Start of the current window, in ms since the Unix epoch. */
  start = Number.NEGATIVE_INFINITY;
  private counts = new Map<string, number>();

  /** `isKept`: whether the counts can be read from the journal again, when the clock was set back. */
  constructor(
    private readonly lengthMs: number,
    private readonly isKept = false,
  ) {}

  /**
   * Makes the window that contains `now` the current one. If the previous one has ended, its counts are dropped; if the clock was
   * set back, they stay where nothing else keeps them, so that a full window stays full until the window that the clock is now in
   * ends.
   */
  turnTo(now: number): void {
    if (now >= this.start - HELD_MS && now < this.start + this.lengthMs) return;
    if (now >= this.start || this.isKept) this.counts = new Map();
    this.start = Math.floor(now / this.lengthMs) * this.lengthMs;
  }

  /** Whether a key was counted in the current window. */
  has(key: string): boolean {
    return this.counts.has(key);
  }

  /** Requests counted for a key in the current window. */
  of(key: string): number {
    return this.counts.get(key) ?? 0;
  }

  /**
   * Sets the count of a key. Of a new key a flat copy is kept: V8 keeps the parts of a concatenated string, which with a million
   * clients take twice as much memory as all the rest.
   */
  set(key: string, used: number): void {
    this.counts.set(this.counts.has(key) ? key : Buffer.from(key).toString(), used);
  }
}

/** Over how long answers are counted, in milliseconds: longer than a group of writes takes, which are all answered at once. */
const WINDOW_MS = 250;
/** The share of the latest window in the rate; the windows before have the rest. */
const WEIGHT = 0.5;

/** How many requests are answered in a second, as of late. Counting costs nothing: the clock is read only when the rate is asked for. */
export class AnswerRate {
  private answered = 0;
  private since = performance.now();
  private rate = 0;

  /** To be called for each request that is answered. */
  note(): void {
    this.answered += 1;
  }

  /** Answers per second; after a time without a question, those of all of it. */
  get perSecond(): number {
    const now = performance.now();
    const elapsedMs = now - this.since;
    if (elapsedMs < WINDOW_MS) return this.rate;
    const latest = (this.answered * 1_000) / elapsedMs;
    this.rate = elapsedMs > 2 * WINDOW_MS ? latest : WEIGHT * latest + (1 - WEIGHT) * this.rate;
    this.answered = 0;
    this.since = now;
    return this.rate;
  }
}

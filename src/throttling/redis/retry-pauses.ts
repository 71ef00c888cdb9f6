/** Shortest and longest pause, and how long Redis must have held before pauses begin anew, in milliseconds. */
const FIRST_MS = 100;
const LONGEST_MS = 5_000;
const HELD_MS = 10_000;

/**
 * How long to leave Redis alone after a failure: each pause twice as long as the one before, up to five seconds, and
 * up to a half of it by chance, so that instances do not come back all at once. A Redis that fails again soon after it
 * was taken up goes on where it was, and so cannot flap.
 */
export class RetryPauses {
  private failures = 0;
  private upSince: number | undefined;

  /** Redis is used from now on. */
  up(): void {
    this.upSince = performance.now();
  }

  /** Redis failed; answers the pause until it is asked again, in milliseconds. */
  next(): number {
    if (this.upSince !== undefined && performance.now() - this.upSince >= HELD_MS) this.failures = 0;
    this.upSince = undefined;
    const longest = Math.min(FIRST_MS * 2 ** this.failures, LONGEST_MS);
    this.failures += 1;
    return longest * (1 - Math.random() / 2);
  }
}

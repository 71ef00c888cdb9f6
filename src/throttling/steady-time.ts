import type { Clock } from '../clock.js';

/** A step back of the clock larger than this is taken for a correction, in milliseconds. */
const CORRECTION_MS = 60_000;

/**
 * The time that quotas are decided by. It never runs backwards for a small step of the clock, which would reopen
 * a window that has passed; a larger step is a correction, and is followed.
 */
export class SteadyTime {
  private last = Number.NEGATIVE_INFINITY;

  constructor(private readonly clock: Clock) {}

  /** Milliseconds since the Unix epoch. */
  now(): number {
    const now = this.clock.now();
    if (now >= this.last || now < this.last - CORRECTION_MS) this.last = now;
    return this.last;
  }
}

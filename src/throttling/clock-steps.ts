import type { Clock } from '../clock.js';

/** Steps smaller than this are not worth moving anything for, in milliseconds; several add up. */
const NOTICED_MS = 500;

/**
 * Notices that the machine's clock was set: by an operator, by NTP, after a machine slept. It then runs ahead of the
 * steady one by more, or less, than it did.
 */
export class ClockSteps {
  private ahead: number;

  constructor(private readonly clock: Clock) {
    this.ahead = clock.now() - clock.steady();
  }

  /** By how many milliseconds the clock was set forward since this was last asked, negative if back; 0 if it was not. */
  take(): number {
    const ahead = this.clock.now() - this.clock.steady();
    const step = ahead - this.ahead;
    if (Math.abs(step) < NOTICED_MS) return 0;
    this.ahead = ahead;
    return Math.round(step);
  }
}

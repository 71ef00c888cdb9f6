/**
 * The service's only source of the time. Everything that compares or stores an instant, or tells for how long something has
 * lasted, asks it, so that a test can hold the time still, move it, or set the clock.
 *
 * What measures how long the machine itself takes reads the machine's clock, because it must go on while a test holds this one
 * still: waits for SQLite's locks, durations in logs and metrics, timeouts of connections and of the stop, and the instants of
 * log lines. clock.spec.ts lists these folders.
 */
export abstract class Clock {
  /** Milliseconds since the Unix epoch, UTC. It steps, forward or back, whenever the machine's clock is set. */
  abstract now(): number;

  /** Milliseconds since some instant of this process: it never steps, and tells how long something has lasted. */
  abstract steady(): number;
}

/** The clock of the machine. To have another one for the whole service, provide it under this class in a `@Global()` module. */
export class SystemClock extends Clock {
  now(): number {
    return Date.now();
  }

  steady(): number {
    return performance.now();
  }
}

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

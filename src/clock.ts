/**
 * The service's only source of the time. Everything that compares or stores an instant, or tells for how long something has
 * lasted, asks it, so that a test can hold the time still, move it, or set the clock.
 */
export abstract class Clock {
  /** Milliseconds since the Unix epoch, UTC. It steps, forward or back, whenever the machine's clock is set. */
  abstract now(): number;

  /** Milliseconds since some instant of this process: it never steps, and tells how long something has lasted. */
  abstract steady(): number;
}

/** The clock of the machine. */
export class SystemClock extends Clock {
  now(): number {
    return Date.now();
  }

  steady(): number {
    return performance.now();
  }
}

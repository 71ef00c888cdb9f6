/** By how much the clocks of two instances may differ, in milliseconds. */
export const CLOCKS_DIFFER_MS = 60_000;

/** An instant, in ms since the Unix epoch, as ISO 8601 text in UTC. */
export function isoOf(instant: number): string {
  return new Date(instant).toISOString();
}

/**
 * The service's source of the time, which a test can stop, advance, or set. Only measurements of the machine
 * use the machine's clock: waits for SQLite's locks, durations in logs and metrics, timeouts of connections and of the shutdown.
 */
export abstract class Clock {
  /** Milliseconds since the Unix epoch, UTC. It steps, forward or back, whenever the machine's clock is set. */
  abstract now(): number;

  /** Milliseconds since some instant of this process: it never steps, and measures how long something has lasted. */
  abstract steady(): number;

  /** The current time, plus `laterMs`, as ISO 8601 text in UTC. */
  instant(laterMs = 0): string {
    return isoOf(this.now() + laterMs);
  }
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

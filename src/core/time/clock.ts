/** Maximum difference between the clocks of two instances, in milliseconds. */
export const CLOCKS_DIFFER_MS = 60_000;

/** Formats a time in ms since the Unix epoch as ISO 8601 text in UTC. */
export function isoOf(instant: number): string {
  return new Date(instant).toISOString();
}

/**
 * The service's source of time, which a test can stop, advance, or set. Only measurements of the machine use its own clock: waits for
 * SQLite's locks, durations in logs and metrics, timeouts of connections and of the shutdown.
 */
export abstract class Clock {
  /** Milliseconds since the Unix epoch. It jumps forward or back when the machine's clock is set. */
  abstract now(): number;

  /** Milliseconds of a monotonic clock with an arbitrary start, for measuring durations. */
  abstract steady(): number;

  /** The current time, plus `laterMs`, as ISO 8601 text in UTC. */
  instant(laterMs = 0): string {
    return isoOf(this.now() + laterMs);
  }
}

/** The machine's clock. To replace it for the whole service, provide another under this class in a `@Global()` module. */
export class SystemClock extends Clock {
  now(): number {
    return Date.now();
  }

  steady(): number {
    return performance.now();
  }
}

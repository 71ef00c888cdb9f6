/**
 * The service's only source of the time of day. Everything that compares or stores an instant asks it, so
 * that a test can hold the time still or move it.
 */
export abstract class Clock {
  /** Milliseconds since the Unix epoch, UTC. */
  abstract now(): number;
}

/** The clock of the machine. */
export class SystemClock extends Clock {
  now(): number {
    return Date.now();
  }
}

import { Clock } from '../../src/core/time/clock.js';

/** A clock that advances only when a test advances it. */
export class TestClock extends Clock {
  private at: number;
  private passed = 0;

  constructor(start: string) {
    super();
    this.at = Date.parse(start);
  }

  now(): number {
    return this.at;
  }

  steady(): number {
    return this.passed;
  }

  /** Advances the time to an instant in ISO 8601 format. An earlier instant sets the clock back. */
  set(instant: string): void {
    this.advance(Date.parse(instant) - this.at);
  }

  /** Advances the time by a number of milliseconds. A negative number sets the clock back. */
  advance(milliseconds: number): void {
    this.at += milliseconds;
    this.passed += Math.max(0, milliseconds);
  }

  /** Sets the clock forward by a number of milliseconds, or back if it is negative, without advancing the monotonic time. */
  step(milliseconds: number): void {
    this.at += milliseconds;
  }
}

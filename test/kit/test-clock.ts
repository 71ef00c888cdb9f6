import { Clock } from '../../src/core/time/clock.js';

/** A clock that advances only when a test says so. */
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

  /** Advances the time to an instant given as ISO 8601 text; an earlier one is a step back. */
  set(instant: string): void {
    this.advance(Date.parse(instant) - this.at);
  }

  /** Advances the time by milliseconds; a negative number is a step back. */
  advance(milliseconds: number): void {
    this.at += milliseconds;
    this.passed += Math.max(0, milliseconds);
  }

  /** Sets the clock forward by milliseconds, or back when negative, while no time passes. */
  step(milliseconds: number): void {
    this.at += milliseconds;
  }
}

import { Clock } from '../../src/clock.js';

/** A clock that stands still until a test moves it. */
export class TestClock extends Clock {
  private at: number;

  constructor(start: string) {
    super();
    this.at = Date.parse(start);
  }

  now(): number {
    return this.at;
  }

  /** Moves to an instant given as ISO 8601 text. */
  set(instant: string): void {
    this.at = Date.parse(instant);
  }

  /** Moves forward by milliseconds (back when negative). */
  advance(milliseconds: number): void {
    this.at += milliseconds;
  }
}

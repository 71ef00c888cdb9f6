import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';

/** Longest wait for a turn, in milliseconds, for each call that the turn before was given to. */
const LONGEST_WAIT_MS = 10;
/** Calls that a turn is given to together, so that what they read is read together. */
const MOST = 8;

/**
 * Gives turns, one after the other: the next one when the event loop has been idle for as long as it has worked since the last one,
 * and after 10 ms for each call of that at the latest. So what begins in turns keeps at most half of an idle process busy, and in a
 * busy one 100 calls a second begin.
 */
export class EventLoopShare {
  private readonly waiting: (() => void)[] = [];
  private since = performance.eventLoopUtilization();
  private isGiving = false;

  /** `isOver` answers whether turns are given at once, because nothing is begun in them any more. */
  constructor(private readonly isOver: () => boolean) {}

  /** Resolves when it is the caller's turn. */
  turn(): Promise<void> {
    return new Promise((begin) => {
      this.waiting.push(begin);
      if (!this.isGiving) void this.give();
    });
  }

  private async give(): Promise<void> {
    this.isGiving = true;
    let begun = 1;
    while (this.waiting.length > 0) {
      const latest = performance.now() + begun * LONGEST_WAIT_MS;
      while (!this.isOver() && performance.now() < latest) {
        const { idle, active } = performance.eventLoopUtilization(this.since);
        if (idle >= active) break;
        await pause(1);
      }
      this.since = performance.eventLoopUtilization();
      const calls = this.waiting.splice(0, MOST);
      for (const begin of calls) begin();
      begun = calls.length;
      // What they begin at once counts for the next turn.
      await Promise.resolve();
    }
    this.isGiving = false;
  }
}

import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';

/** Longest wait for a turn, in milliseconds. */
const LONGEST_WAIT_MS = 10;

/**
 * Gives turns, one after the other: the next one when the event loop has been idle for as long as it has worked since the last one,
 * and after 10 ms at the latest. So what begins in turns keeps at most half of an idle process busy, and in a busy one
 * 100 turns a second begin.
 */
export class EventLoopShare {
  private since = performance.eventLoopUtilization();
  private last: Promise<void> = Promise.resolve();

  /** Resolves when it is the caller's turn; soon when `isOver` answers so. */
  turn(isOver: () => boolean): Promise<void> {
    this.last = this.last.then(() => this.next(isOver));
    return this.last;
  }

  private async next(isOver: () => boolean): Promise<void> {
    const latest = performance.now() + LONGEST_WAIT_MS;
    while (!isOver() && performance.now() < latest) {
      const { idle, active } = performance.eventLoopUtilization(this.since);
      if (idle >= active) break;
      await pause(1);
    }
    this.since = performance.eventLoopUtilization();
  }
}

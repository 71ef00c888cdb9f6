import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';

/** Maximum wait for a slot, in milliseconds, per caller of the previous slot. */
const MAX_WAIT_MS = 10;
/** Number of callers that share a slot, so that their queries run together. */
const MAX_CONCURRENT = 8;

/**
 * Limits background work to half of the event loop: a slot starts when the loop has been idle for as long as it was busy since the last
 * slot, or at the latest after 10 ms per caller of the last slot, so that 100 callers per second proceed in a busy process.
 */
export class EventLoopShare {
  private readonly waiting: (() => void)[] = [];
  private since = performance.eventLoopUtilization();
  private isDispatching = false;

  /** `isOver` returns whether to stop waiting because no more work starts. */
  constructor(private readonly isOver: () => boolean) {}

  /** Waits for the next slot that has room for the caller. */
  nextSlot(): Promise<void> {
    return new Promise((start) => {
      this.waiting.push(start);
      if (!this.isDispatching) void this.dispatch();
    });
  }

  private async dispatch(): Promise<void> {
    this.isDispatching = true;
    let startedAt = 1;
    while (this.waiting.length > 0) {
      const latest = performance.now() + startedAt * MAX_WAIT_MS;
      while (!this.isOver() && performance.now() < latest) {
        const { idle, active } = performance.eventLoopUtilization(this.since);
        if (idle >= active) break;
        await pause(1);
      }
      this.since = performance.eventLoopUtilization();
      const calls = this.waiting.splice(0, MAX_CONCURRENT);
      for (const start of calls) start();
      startedAt = calls.length;
      // Let the callers start, so that their work counts toward the next slot.
      await Promise.resolve();
    }
    this.isDispatching = false;
  }
}

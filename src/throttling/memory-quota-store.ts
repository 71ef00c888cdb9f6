import { Injectable } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { Clock } from '../clock.js';
import { QuotaStore } from './quota-store.js';
import type { QuotaVerdict, QuotaWindow, WindowState } from './quota.js';

/** Counts of the current window of one length. */
interface CurrentWindow {
  readonly start: number;
  readonly used: Map<string, number>;
}

/**
 * Counts in this process. All windows of one length end at the same instant, so that their counts are
 * dropped together: no timer, and nothing is kept of a window that has passed.
 */
@Injectable()
export class MemoryQuotaStore extends QuotaStore {
  private readonly current = new Map<number, CurrentWindow>();

  constructor(private readonly clock: Clock) {
    super();
  }

  take(windows: readonly QuotaWindow[], now: number): QuotaVerdict {
    const admitted = windows.every((window) => this.usedOf(window, now) < window.limit);
    if (admitted) {
      for (const window of windows) {
        this.countsOf(window.lengthMs, now).used.set(window.key, this.usedOf(window, now) + 1);
      }
    }
    return { admitted, at: now, windows: windows.map((window) => this.stateOf(window, now)) };
  }

  peek(windows: readonly QuotaWindow[], now: number): QuotaVerdict {
    const states = windows.map((window) => this.stateOf(window, now));
    return { admitted: states.every(({ remaining }) => remaining > 0), at: now, windows: states };
  }

  increment: ThrottlerStorage['increment'] = (key, lengthMs, limit, _blockDuration, name) => {
    const verdict = this.take([{ key, name, limit, lengthMs }], this.clock.now());
    const state = verdict.windows[0];
    const secondsLeft = state ? Math.ceil((state.resetsAt - verdict.at) / 1000) : 0;
    return Promise.resolve({
      totalHits: limit - (state?.remaining ?? 0),
      timeToExpire: secondsLeft,
      isBlocked: !verdict.admitted,
      timeToBlockExpire: verdict.admitted ? 0 : secondsLeft,
    });
  };

  private stateOf(window: QuotaWindow, now: number): WindowState {
    const { name, limit, lengthMs } = window;
    const resetsAt = this.countsOf(lengthMs, now).start + lengthMs;
    return { name, limit, lengthMs, remaining: Math.max(0, limit - this.usedOf(window, now)), resetsAt };
  }

  private usedOf(window: QuotaWindow, now: number): number {
    return this.countsOf(window.lengthMs, now).used.get(window.key) ?? 0;
  }

  private countsOf(lengthMs: number, now: number): CurrentWindow {
    const start = Math.floor(now / lengthMs) * lengthMs;
    let counts = this.current.get(lengthMs);
    // A clock that steps back does not reopen a window that has passed.
    if (!counts || start > counts.start) {
      counts = { start, used: new Map() };
      this.current.set(lengthMs, counts);
    }
    return counts;
  }
}

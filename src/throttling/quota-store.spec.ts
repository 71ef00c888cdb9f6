import { describe, expect, it } from 'vitest';
import { TestClock } from '../../test/kit/test-clock.js';
import { WindowCounts } from './memory/current-counts.js';
import { QuotaStore } from './quota-store.js';
import type { QuotaRequest, QuotaVerdict } from './quota.js';

/** A store of one window, as a team may bring its own. */
class OneWindow extends QuotaStore {
  private counts: WindowCounts | undefined;

  take({ isClient, windows: [window] }: QuotaRequest, at: number): QuotaVerdict {
    if (isClient || !window) throw new Error('not one window of somebody unknown');
    this.counts ??= new WindowCounts(window.lengthMs);
    this.counts.turnTo(at);
    const used = this.counts.of(window.key);
    const admitted = used < window.limit;
    if (admitted) this.counts.set(window.key, used + 1);
    const remaining = window.limit - this.counts.of(window.key);
    const { name, limit, lengthMs } = window;
    const state = { name, limit, lengthMs, used, remaining, resetsAt: this.counts.start + lengthMs };
    return { admitted, at, windows: [state] };
  }

  peek(request: QuotaRequest, at: number): QuotaVerdict {
    return this.take(request, at);
  }

  unban(): Promise<void> {
    return Promise.resolve();
  }
}

describe('a store behind throttler’s own guard', () => {
  it('counts hits in one window, and tells in whole seconds how long it lasts and blocks', async () => {
    const clock = new TestClock('2026-11-20T12:00:29.250Z');
    const store = new OneWindow(clock);
    const hit = () => store.increment('key', 60_000, 2, 0, 'minute');
    expect(await hit()).toEqual({ totalHits: 1, timeToExpire: 31, isBlocked: false, timeToBlockExpire: 0 });
    expect(await hit()).toMatchObject({ totalHits: 2, isBlocked: false, timeToBlockExpire: 0 });
    expect(await hit()).toEqual({ totalHits: 2, timeToExpire: 31, isBlocked: true, timeToBlockExpire: 31 });
    clock.set('2026-11-20T12:01:00.000Z');
    expect(await hit()).toEqual({ totalHits: 1, timeToExpire: 60, isBlocked: false, timeToBlockExpire: 0 });
  });
});

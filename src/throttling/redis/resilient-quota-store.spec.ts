import { expect, it, vi } from 'vitest';
import { SystemClock } from '../../core/time/clock.js';
import { BAN_RULES } from '../bans.js';
import { MemoryQuotaStore } from '../memory/memory-quota-store.js';
import { DAY_MS, MINUTE_MS } from '../../core/time/duration.js';
import type { QuotaRequest, QuotaVerdict } from '../quota.js';
import type { RedisLink } from './redis-link.js';
import type { RedisQuotaStore } from './redis-quota-store.js';
import { ResilientQuotaStore } from './resilient-quota-store.js';

const MIDNIGHT = Date.UTC(2026, 10, 21);
const WAIT_MS = 30;

/** A store of two instances whose connection is up, and the response of Redis. */
function storeOn(take: () => Promise<QuotaVerdict>) {
  const [clock, alone] = [new SystemClock(), new MemoryQuotaStore(new SystemClock())];
  const link = { isUp: true, instances: 2, failed: () => undefined };
  const shared = { take } as unknown as RedisQuotaStore;
  const store = new ResilientQuotaStore(link as unknown as RedisLink, shared, alone, clock, BAN_RULES);
  return { store, link, alone };
}

it('decides a request that has waited for Redis across the end of a window in the window that is then', async () => {
  const { store, alone } = storeOn(async () => {
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
    throw new Error('Command timed out');
  });
  const windows = [
    { key: 'client:a', name: 'minute', limit: 1, lengthMs: MINUTE_MS },
    { key: 'client:a', name: 'day', limit: 9, lengthMs: DAY_MS },
  ];
  const request: QuotaRequest = { subject: 'client:a', isClient: true, windows };
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  const late = store.take(request, MIDNIGHT - 1);
  // Other requests have moved to the new minute and used it up.
  expect(alone.take(request, MIDNIGHT + 5)).toMatchObject({ admitted: true });
  await vi.advanceTimersByTimeAsync(WAIT_MS);
  expect(await late).toMatchObject({ admitted: false });
  expect(alone.take(request, MIDNIGHT + WAIT_MS + 20_000)).toMatchObject({ admitted: false });
});

it.each([1, 2, 3, 4, 5])(
  'a ban that Redis has returned ends at its time even if Redis fails: number %d',
  async (bans) => {
    const until =
      MIDNIGHT + (BAN_RULES.banDurationsMs[Math.min(bans, BAN_RULES.banDurationsMs.length) - 1] ?? 0);
    const banned = { admitted: false, at: MIDNIGHT, windows: [], bannedUntil: until };
    const { store, link } = storeOn(() => Promise.resolve(banned));
    const windows = [{ key: 'client:a', name: 'minute', limit: 9, lengthMs: MINUTE_MS }];
    const request: QuotaRequest = { subject: 'client:a', isClient: true, windows, keyId: 'k' };
    await store.take(request, MIDNIGHT);
    link.isUp = false;
    // Just before the end: the time that the request waits is added.
    expect(await store.take(request, until - MINUTE_MS)).toMatchObject({
      admitted: false,
      bannedUntil: until,
    });
    expect(await store.take(request, until + 1)).toMatchObject({ admitted: true });
  },
);

it.each([
  ['its share of the limit', 9, 2, 4],
  ['at least one request', 1, 3, 1],
])('an instance alone admits %s, and says so', async (_, limit, instances, share) => {
  const { store, link } = storeOn(() => Promise.reject(new Error('Redis was asked')));
  Object.assign(link, { isUp: false, instances });
  const windows = [{ key: 'client:a', name: 'minute', limit, lengthMs: MINUTE_MS }];
  const request: QuotaRequest = { subject: 'client:a', isClient: true, windows };
  for (let used = 1; used <= share; used += 1)
    expect(await store.take(request, MIDNIGHT)).toMatchObject({
      admitted: true,
      windows: [{ limit: share, used, remaining: share - used }],
    });
  expect(await store.take(request, MIDNIGHT)).toMatchObject({ admitted: false });
});

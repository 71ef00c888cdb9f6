import { expect, it, vi } from 'vitest';
import { SystemClock } from '../../core/time/clock.js';
import { BAN_RULES } from '../bans.js';
import { MemoryQuotaStore } from '../memory/memory-quota-store.js';
import { DAY_MS, MINUTE_MS } from '../../core/time/duration.js';
import type { QuotaRequest } from '../quota.js';
import type { RedisLink } from './redis-link.js';
import type { RedisQuotaStore } from './redis-quota-store.js';
import { ResilientQuotaStore } from './resilient-quota-store.js';

const MIDNIGHT = Date.UTC(2026, 10, 21);
const WAIT_MS = 30;

/** A store that counts in Redis while the link says so, and else in memory. */
function storeOn(link: object, shared: RedisQuotaStore): ResilientQuotaStore {
  const [clock, alone] = [new SystemClock(), new MemoryQuotaStore(new SystemClock())];
  return new ResilientQuotaStore(link as RedisLink, shared, alone, clock, BAN_RULES);
}

it('decides a request that has waited for Redis across the end of a window in the window that is then', async () => {
  const alone = new MemoryQuotaStore(new SystemClock());
  const link = {
    isUp: true,
    instances: { number: 1 },
    failed: () => undefined,
  } as unknown as RedisLink;
  const silent = {
    take: async () => {
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
      throw new Error('Command timed out');
    },
  } as unknown as RedisQuotaStore;
  const store = new ResilientQuotaStore(link, silent, alone, new SystemClock(), BAN_RULES);
  const windows = [
    { key: 'client:a', name: 'minute', limit: 1, lengthMs: MINUTE_MS },
    { key: 'client:a', name: 'day', limit: 9, lengthMs: DAY_MS },
  ];
  const request: QuotaRequest = { subject: 'client:a', isClient: true, windows };
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  const late = store.take(request, MIDNIGHT - 1);
  // Others have gone on in the meantime, and used the new minute up.
  expect(alone.take(request, MIDNIGHT + 5)).toMatchObject({ admitted: true });
  await vi.advanceTimersByTimeAsync(WAIT_MS);
  expect(await late).toMatchObject({ admitted: false });
  expect(alone.take(request, MIDNIGHT + WAIT_MS + 20_000)).toMatchObject({ admitted: false });
});

it.each([1, 2, 3, 4, 5])(
  'a ban that Redis has answered ends when it was told to where Redis fails: number %d',
  async (bans) => {
    const link = { isUp: true, instances: { number: 1 }, failed: () => undefined, owe: () => undefined };
    const until = MIDNIGHT + (BAN_RULES.ladderMs[Math.min(bans, BAN_RULES.ladderMs.length) - 1] ?? 0);
    const banned = { admitted: false, at: MIDNIGHT, windows: [], bannedUntil: until };
    const shared = { take: () => Promise.resolve(banned) } as unknown as RedisQuotaStore;
    const store = storeOn(link, shared);
    const windows = [{ key: 'client:a', name: 'minute', limit: 9, lengthMs: MINUTE_MS }];
    const request: QuotaRequest = { subject: 'client:a', isClient: true, windows, keyId: 'k' };
    await store.take(request, MIDNIGHT);
    link.isUp = false;
    // A moment before: the time that a request waits is added.
    expect(await store.take(request, until - MINUTE_MS)).toMatchObject({
      admitted: false,
      bannedUntil: until,
    });
    expect(await store.take(request, until + 1)).toMatchObject({ admitted: true });
  },
);

it('a ban that began while Redis failed is kept and handed over, also where Redis has admitted a request before', async () => {
  const link = { isUp: false, instances: { number: 1 }, failed: () => undefined, owe: () => undefined };
  const windows = [{ key: 'client:a', name: 'minute', limit: 1, lengthMs: MINUTE_MS }];
  const request: QuotaRequest = { subject: 'client:a', isClient: true, windows, keyId: 'k' };
  const free = { name: 'minute', limit: 1, lengthMs: MINUTE_MS, used: 1, remaining: 0, resetsAt: 0 };
  const shared = {
    take: (_: QuotaRequest, at: number) => Promise.resolve({ admitted: true, at, windows: [free] }),
  } as unknown as RedisQuotaStore;
  const store = storeOn(link, shared);
  let now = MIDNIGHT;
  let until: number | undefined;
  for (; until === undefined; now += 1_000) until = (await store.take(request, now)).bannedUntil;
  link.isUp = true;
  await store.take(request, now);
  link.isUp = false;
  expect(await store.take(request, now)).toMatchObject({ admitted: false, bannedUntil: until });
});

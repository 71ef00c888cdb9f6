import { expect, it, vi } from 'vitest';
import { SystemClock } from '../../core/time/clock.js';
import { MemoryQuotaStore } from '../memory/memory-quota-store.js';
import { DAY_MS, MINUTE_MS, type QuotaRequest } from '../quota.js';
import type { RedisLink } from './redis-link.js';
import type { RedisQuotaStore } from './redis-quota-store.js';
import { ResilientQuotaStore } from './resilient-quota-store.js';

const MIDNIGHT = Date.UTC(2026, 10, 21);
const WAIT_MS = 30;

it('decides a request that has waited for Redis across the end of a window in the window that is then', async () => {
  const alone = new MemoryQuotaStore(new SystemClock());
  const link = {
    isUp: true,
    instances: { number: 1 },
    failed: () => undefined,
    late: {},
  } as unknown as RedisLink;
  const silent = {
    take: async () => {
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
      throw new Error('Command timed out');
    },
  } as unknown as RedisQuotaStore;
  const store = new ResilientQuotaStore(link, silent, alone, new SystemClock());
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

it.each([true, false])(
  'sends nothing to a Redis in doubt until it is known that it answers: %s',
  async (answers) => {
    let known = (): void => undefined;
    const late = { doubt: new Promise<void>((resolve) => (known = resolve)) };
    const link = { isUp: true, epoch: 0, instances: { number: 1 }, late, owe: () => undefined };
    const asked: QuotaRequest[] = [];
    const clock = new SystemClock();
    const alone = new MemoryQuotaStore(clock);
    const shared = {
      take: (one: QuotaRequest, now: number) => (asked.push(one), Promise.resolve(alone.take(one, now))),
    };
    const store = new ResilientQuotaStore(
      link as unknown as RedisLink,
      shared as unknown as RedisQuotaStore,
      alone,
      clock,
    );
    const windows = [{ key: 'client:a', name: 'minute', limit: 9, lengthMs: MINUTE_MS }];
    const verdict = store.take({ subject: 'client:a', isClient: true, windows }, MIDNIGHT);
    await Promise.resolve();
    expect(asked).toEqual([]);
    link.isUp = answers;
    known();
    expect((await verdict).admitted).toBe(true);
    expect(asked).toHaveLength(answers ? 1 : 0);
  },
);

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError } from '../../core/errors/api-error.js';
import { Patience, PostgresWaits, WaitedTooLong } from './request-waits.js';

const LIMIT_MS = 4_000;

describe('the patience of a request', () => {
  it('counts waits alone, and those at the same time once', () => {
    const patience = new Patience(LIMIT_MS);
    patience.begin(0);
    patience.begin(500);
    expect(patience.at(700)).toBe(3_300);
    patience.end(800);
    patience.end(1_000);
    expect(patience.at(60_000)).toBe(3_000);
    patience.begin(60_000);
    expect(patience.at(63_000)).toBe(0);
  });
});

describe('the waits of requests', () => {
  let waits: PostgresWaits;
  beforeEach(() => {
    vi.useFakeTimers();
    waits = new PostgresWaits(LIMIT_MS);
  });
  afterEach(() => {
    waits.end();
    vi.useRealTimers();
  });

  /** Waits for so long, in milliseconds; answers the limit that it was given. */
  const wait = (ms: number) =>
    waits.wait(async (limitMs) => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      return limitMs;
    });
  /** Something takes long, until its end. */
  const beSlow = async () => {
    const slow = wait(1_000);
    await vi.advanceTimersByTimeAsync(1_000);
    await slow;
  };

  it('have no limit of their own while nothing takes long', async () => {
    const all = waits.run(async () => [await wait(100), await wait(100), await wait(100)]);
    await vi.advanceTimersByTimeAsync(300);
    expect(await all).toEqual([undefined, undefined, undefined]);
  });

  it('share the limit of one statement while something does', async () => {
    await beSlow();
    const all = waits.run(async () => {
      const limits = [await wait(1_000), await wait(2_000), await wait(1_000)];
      return [limits, await wait(1).catch((error: unknown) => error)];
    });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await all).toEqual([[undefined, 3_000, 1_000], expect.any(WaitedTooLong)]);
  });

  it('of one request leave those of another alone, and what a request does beside them', async () => {
    await beSlow();
    const [one, other] = [1_000, 3_000].map((ms) =>
      waits.run(async () => {
        await wait(ms);
        await new Promise((resolve) => setTimeout(resolve, 10_000));
        return wait(1);
      }),
    );
    const slow = wait(20_000);
    await vi.advanceTimersByTimeAsync(20_000);
    expect([await one, await other]).toEqual([3_000, 1_000]);
    await slow;
  });

  it('end as if they had begun with what takes long, where nobody knows for which request they are', async () => {
    await beSlow();
    const late = wait(10);
    await vi.advanceTimersByTimeAsync(2_900);
    const later = wait(10);
    await vi.advanceTimersByTimeAsync(2_000);
    const fresh = wait(10);
    await vi.advanceTimersByTimeAsync(10);
    expect([await late, await later, await fresh]).toEqual([3_000, 500, undefined]);
  });

  it('are left alone again when nothing has taken long for a while', async () => {
    await beSlow();
    await vi.advanceTimersByTimeAsync(10_000);
    const all = waits.run(async () => [await wait(300), await wait(300)]);
    await vi.advanceTimersByTimeAsync(600);
    expect(await all).toEqual([undefined, undefined]);
  });

  it('for what several requests share end with the limit of each', async () => {
    await beSlow();
    const shared = wait(6_000);
    const bounded = waits.run(async () => {
      await wait(3_000);
      return waits.bounded(shared).catch((error: unknown) => error);
    });
    await vi.advanceTimersByTimeAsync(4_100);
    expect(await bounded).toBeInstanceOf(ApiError);
    await vi.advanceTimersByTimeAsync(2_000);
    await shared;
  });

  it('never leave out what begins or ends a transaction', async () => {
    await beSlow();
    const limit = waits.run(async () => {
      await wait(4_500);
      return waits.ending((limitMs) => Promise.resolve(limitMs));
    });
    await vi.advanceTimersByTimeAsync(4_500);
    expect(await limit).toBe(0);
  });

  it('have no limit at all where statements have none', async () => {
    const patient = new PostgresWaits(0);
    const limits = patient.run(() => patient.wait((limitMs) => Promise.resolve(limitMs)));
    expect(await limits).toBeUndefined();
  });
});

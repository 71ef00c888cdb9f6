import { describe, expect, it } from 'vitest';
import { DAY_MS, MINUTE_MS } from '../core/time/duration.js';
import { AddressLines } from './quota-reports.js';
import { underLimits, type QuotaVerdict, type QuotaWindow } from './quota.js';

describe('a decision under the limits of another plan', () => {
  const decided = (used: readonly number[], admitted: boolean, bannedUntil?: number): QuotaVerdict => ({
    admitted,
    at: 0,
    windows: used.map((count, index) => ({
      name: ['minute', 'day'][index] ?? '',
      limit: 10,
      lengthMs: [MINUTE_MS, DAY_MS][index] ?? 0,
      used: count,
      remaining: 10 - count,
      resetsAt: MINUTE_MS,
    })),
    ...(bannedUntil === undefined ? {} : { bannedUntil }),
  });
  const windows = (...limits: number[]): QuotaWindow[] =>
    limits.map((limit, index) => ({
      key: 'client:a',
      name: ['minute', 'day'][index] ?? '',
      limit,
      lengthMs: [MINUTE_MS, DAY_MS][index] ?? 0,
    }));

  it.each([
    ['stays admitted where there is room', [3, 5], [5, 5], { admitted: true, remaining: [2, 0] }],
    ['is refused where it went beyond a limit', [3, 5], [5, 4], { admitted: false, remaining: [2, 0] }],
    ['has more left under a larger plan', [10, 10], [60, 1_000], { admitted: true, remaining: [50, 990] }],
  ])('%s', (_, used, limits, expected) => {
    const verdict = underLimits(decided(used, true), windows(...limits));
    expect(verdict).toMatchObject({
      admitted: expected.admitted,
      windows: expected.remaining.map((remaining, index) => ({ remaining, limit: limits[index] })),
    });
  });

  it('has to be made anew when it was a refusal, or of other windows', () => {
    expect(underLimits(decided([10, 10], false), windows(60, 1_000))).toBeUndefined();
    expect(underLimits(decided([3, 3], true), windows(60))).toBeUndefined();
  });

  it('stays as it is for a banned key', () => {
    const banned = decided([10, 10], false, 99_000);
    expect(underLimits(banned, windows(60, 1_000))).toBe(banned);
  });
});

describe('AddressLines', () => {
  it('counts by address and minute, and all addresses beyond a bound together', () => {
    const lines = new AddressLines();
    const count = (id: string, at = 0) => lines.count({ id, plan: 'anonymous', perMinute: 60 }, at);
    expect([count('a'), count('b'), count('a')]).toEqual([1, 1, 2]);
    for (let at = 0; at < 10_000; at += 1) count(`of many ${at}`);
    expect([count('a'), count('c'), count('d')]).toEqual([3, 3, 4]);
    expect([count('a', 60_000), count('d', 60_000)]).toEqual([1, 1]);
  });
});

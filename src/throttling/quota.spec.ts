import { describe, expect, it } from 'vitest';
import { DAY_MS, MINUTE_MS } from '../core/time/duration.js';
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

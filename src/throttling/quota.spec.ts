import { describe, expect, it } from 'vitest';
import {
  DAY_MS,
  MINUTE_MS,
  retryAtOf,
  tightestWindow,
  underLimits,
  violatedWindow,
  type QuotaVerdict,
  type QuotaWindow,
  type WindowState,
} from './quota.js';

const window = (name: string, remaining: number, resetsAt: number, lengthMs = 60_000): WindowState => ({
  name,
  limit: 10,
  lengthMs,
  used: 10 - remaining,
  remaining,
  resetsAt,
});
const refused = (...windows: WindowState[]): QuotaVerdict => ({ admitted: false, at: 5, windows });

describe('the window to look at', () => {
  it.each<[string, WindowState[], string | undefined]>([
    ['is the one with fewest requests left', [window('a', 2, 9), window('b', 1, 9), window('c', 3, 9)], 'b'],
    [
      'is the one that resets last, with as many left',
      [window('a', 1, 8), window('b', 1, 9), window('c', 1, 7)],
      'b',
    ],
    [
      'is the longest, with as many left and one reset',
      [window('a', 1, 9, 2), window('b', 1, 9, 3), window('c', 1, 9, 1)],
      'b',
    ],
    ['is the first of several that are alike', [window('a', 1, 9), window('b', 1, 9)], 'a'],
    ['is none of none', [], undefined],
  ])('%s', (_, windows, expected) => {
    expect(tightestWindow(windows)?.name).toBe(expected);
  });
});

describe('the window that refused', () => {
  it.each<[string, QuotaVerdict, string | undefined]>([
    ['is the one without room', refused(window('a', 1, 9), window('b', 0, 8)), 'b'],
    [
      'is the one to wait longest for',
      refused(window('a', 0, 8), window('b', 0, 9), window('c', 1, 10)),
      'b',
    ],
    ['is the longer one of two with one reset', refused(window('a', 0, 9, 2), window('b', 0, 9, 3)), 'b'],
    ['is the longer one, in whatever order', refused(window('a', 0, 9, 3), window('b', 0, 9, 2)), 'a'],
    [
      'is none when it was admitted, with the last request',
      { ...refused(window('a', 0, 9)), admitted: true },
      undefined,
    ],
  ])('%s', (_, verdict, expected) => {
    expect(violatedWindow(verdict)?.name).toBe(expected);
  });
});

describe('when a refused request may come again', () => {
  it.each<[string, QuotaVerdict, number]>([
    ['is when the window that refused it resets', refused(window('a', 0, 9), window('b', 1, 12)), 9],
    ['is the end of the ban, whatever the windows say', { ...refused(window('a', 0, 9)), bannedUntil: 7 }, 7],
    ['is at once where nothing refused it', refused(window('a', 1, 9)), 5],
  ])('%s', (_, verdict, expected) => {
    expect(retryAtOf(verdict)).toBe(expected);
  });
});

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

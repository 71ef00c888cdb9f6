import { expect, it } from 'vitest';
import { QuotaThresholds, isNoteworthy } from './quota-thresholds.js';
import { MINUTE_MS, type WindowState } from './quota.js';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');

function minute(used: number, limit: number, resetsAt = NOW + MINUTE_MS): WindowState {
  const remaining = Math.max(0, limit - used);
  return { name: 'minute', limit, lengthMs: MINUTE_MS, used, remaining, resetsAt };
}

it.each([
  [79, 100, false],
  [80, 100, true],
  [3, 4, false],
  [4, 4, true],
  [1, 1, true],
  [0, 1, false],
  [9, 5, true],
])('of %i of %i requests used is worth a look: %s', (used, limit, expected) => {
  expect(isNoteworthy(minute(used, limit))).toBe(expected);
});

it('tells each threshold once for a window, and those that were jumped over together', () => {
  const thresholds = new QuotaThresholds();
  const reached = (window: WindowState, client = 'a') =>
    thresholds.reached(client, window).map(({ percent }) => percent);
  expect(reached(minute(79, 100))).toEqual([]);
  expect(reached(minute(80, 100))).toEqual([80]);
  expect(reached(minute(99, 100))).toEqual([]);
  expect(reached(minute(100, 100))).toEqual([100]);
  expect(reached(minute(100, 100))).toEqual([]);
  expect(reached(minute(100, 100), 'b')).toEqual([80, 100]);
  expect(reached({ ...minute(100, 100), name: 'day' })).toEqual([80, 100]);
  expect(reached(minute(80, 100, NOW + 2 * MINUTE_MS))).toEqual([80]);
});

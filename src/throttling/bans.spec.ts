import { describe, expect, it } from 'vitest';
import { BAN_RULES, RefusedKeys, neverRefused, recordRefusal } from './bans.js';
import { DAY_MS, MINUTE_MS } from '../core/time/duration.js';

const NOON = Date.parse('2026-11-20T12:00:00.000Z');

describe('the ladder of a key that continues whenever its ban is over', () => {
  /** The lengths of the first `count` bans in minutes, with `quietMs` without requests between them. */
  function bans(count: number, quietMs: number): number[] {
    const state = neverRefused();
    const lengths = [];
    let now = NOON;
    for (let ban = 1; ban <= count; ban += 1) {
      const over = now;
      for (; state.bannedUntil <= over; now += 1_000) recordRefusal(state, now, now + DAY_MS, BAN_RULES);
      lengths.push((state.bannedUntil - (now - 1_000)) / MINUTE_MS);
      now = state.bannedUntil + quietMs;
    }
    return lengths;
  }

  it('is 5 minutes, 15, 60, and 24 hours each further time', () => {
    expect(bans(6, 0)).toEqual([5, 15, 60, 1_440, 1_440, 1_440]);
  });

  it('starts again after a day without strikes since the end of the ban, and no earlier', () => {
    expect(bans(3, DAY_MS)).toEqual([5, 5, 5]);
    // The strikes start two seconds after the first refusal.
    expect(bans(3, DAY_MS - 2_001)).toEqual([5, 15, 60]);
  });
});

describe('keys that were refused', () => {
  const refused = (lastStrikeAt: number, retryAt: number) => ({ ...neverRefused(), lastStrikeAt, retryAt });

  it.each([
    ['whose last strike is less than a day ago', refused(NOON - DAY_MS + 1, NOON), true],
    ['that still wait', refused(NOON - DAY_MS, NOON + 1), true],
    ['that have served their time', refused(NOON - DAY_MS, NOON), false],
  ])('are retained or dropped when there are many: those %s', (_, state, isRetained) => {
    const keys = new RefusedKeys(BAN_RULES);
    keys.set('key', state, NOON);
    for (let key = 0; key < 1_000; key += 1) keys.set(`${key}`, refused(NOON, NOON), NOON);
    expect(keys.find('key') !== undefined).toBe(isRetained);
  });
});

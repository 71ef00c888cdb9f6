import { describe, expect, it } from 'vitest';
import { BAN_RULES, RefusedKeys, neverRefused, recordRefusal } from './bans.js';
import { DAY_MS, MINUTE_MS } from './quota.js';

const NOON = Date.parse('2026-11-20T12:00:00.000Z');
const MIDNIGHT = Date.parse('2026-11-21T00:00:00.000Z');

describe('a key that goes on after 429 until it is banned', () => {
  it.each([
    ['all at once, which is one strike a second', 0.25, 21_000],
    ['every 15 ms', 15, 21_105],
    ['every half second', 500, 21_000],
    ['every second', 1_000, 21_000],
    ['every 2.5 seconds', 2_500, 50_000],
    ['every minute', MINUTE_MS, 20 * MINUTE_MS],
  ])('%s', (_, gapMs, expected) => {
    const state = neverRefused();
    let after = 0;
    for (; state.bans === 0; after += gapMs) recordRefusal(state, NOON + after, MIDNIGHT, BAN_RULES);
    expect([after - gapMs, state.bannedUntil]).toEqual([expected, NOON + expected + 5 * MINUTE_MS]);
  });
});

describe('the ladder of a key that goes on whenever its ban is over', () => {
  /** The lengths of so many bans in minutes; between the end of one and the next it is quiet for as long as given. */
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

  it('begins anew after a day without strikes since the end of the ban, and no earlier', () => {
    expect(bans(3, DAY_MS)).toEqual([5, 5, 5]);
    // The strikes come two seconds after the first refusal.
    expect(bans(3, DAY_MS - 2_001)).toEqual([5, 15, 60]);
  });
});

describe('keys that were refused', () => {
  const refused = (lastStrikeAt: number, retryAt: number) => ({ ...neverRefused(), lastStrikeAt, retryAt });

  it('are found until they are forgotten', () => {
    const keys = new RefusedKeys(BAN_RULES);
    const state = refused(NOON, NOON);
    keys.set('key', state, NOON);
    expect([keys.find('key'), keys.find('other')]).toEqual([state, undefined]);
    keys.forget('key');
    expect(keys.find('key')).toBeUndefined();
  });

  it.each([
    ['whose last strike is less than a day ago', refused(NOON - DAY_MS + 1, NOON), true],
    ['that still wait', refused(NOON - DAY_MS, NOON + 1), true],
    ['that have served their time', refused(NOON - DAY_MS, NOON), false],
  ])('are kept or dropped when there are many: those %s', (_, state, isKept) => {
    const keys = new RefusedKeys(BAN_RULES);
    keys.set('key', state, NOON);
    for (let key = 0; key < 1_000; key += 1) keys.set(`${key}`, refused(NOON, NOON), NOON);
    expect(keys.find('key') !== undefined).toBe(isKept);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BAN_RULES,
  type BanState,
  RefusedKeys,
  heldToLength,
  moveWithClock,
  neverRefused,
  recordRefusal,
} from './bans.js';
import { DAY_MS, MINUTE_MS } from './quota.js';

const NOON = Date.parse('2026-11-20T12:00:00.000Z');
const MIDNIGHT = Date.parse('2026-11-21T00:00:00.000Z');

/** Refuses a key at each of these times, in ms after noon, telling it the reset beside it. */
function refusedAt(...refusals: readonly (readonly [at: number, told: number])[]): BanState {
  const state = neverRefused();
  for (const [at, told] of refusals) recordRefusal(state, NOON + at, told, BAN_RULES);
  return state;
}

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

describe('what is a strike', () => {
  const minute = (count: number) => NOON + count * MINUTE_MS;
  it.each([
    ['the first refusal', [[10_000, minute(1)]], 0],
    [
      'one within two seconds of the first: it was in flight',
      [
        [10_000, minute(1)],
        [11_999, minute(1)],
      ],
      0,
    ],
    [
      'one two seconds after the first',
      [
        [10_000, minute(1)],
        [12_000, minute(1)],
      ],
      1,
    ],
    [
      'one less than a second after a strike',
      [
        [10_000, minute(1)],
        [12_000, minute(1)],
        [12_999, minute(1)],
      ],
      1,
    ],
    [
      'one a second after a strike',
      [
        [10_000, minute(1)],
        [12_000, minute(1)],
        [13_000, minute(1)],
      ],
      2,
    ],
    [
      'one at the reset that was told',
      [
        [10_000, minute(1)],
        [60_000, minute(2)],
      ],
      0,
    ],
    [
      'one within two seconds after the reset that was told',
      [
        [10_000, minute(1)],
        [60_001, minute(2)],
        [61_999, minute(2)],
      ],
      0,
    ],
    [
      'one that tells an earlier reset, because the plan was raised',
      [
        [10_000, MIDNIGHT],
        [70_000, minute(2)],
        [130_000, minute(3)],
        [190_000, minute(4)],
      ],
      0,
    ],
    [
      'one during the wait that was told last',
      [
        [10_000, MIDNIGHT],
        [70_000, minute(2)],
        [73_000, minute(2)],
      ],
      1,
    ],
    [
      'one of a key that goes from window to window',
      [
        [0, MIDNIGHT],
        [3_000, minute(1)],
        [5_000, MIDNIGHT],
        [7_000, minute(1)],
        [9_000, MIDNIGHT],
      ],
      2,
    ],
  ] as [string, [number, number][], number][])('%s', (_, refusals, expected) => {
    expect(refusedAt(...refusals).strikes).toBe(expected);
  });
});

describe('a key that waits as long as it was last told', () => {
  it('has no strike, whatever is refused within two seconds and whichever resets it is told', () => {
    const inFlight = fc.tuple(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1, max: DAY_MS }));
    const episode = fc.tuple(fc.integer({ min: 0, max: DAY_MS }), fc.array(inFlight, { maxLength: 5 }));
    fc.assert(
      fc.property(fc.array(episode, { maxLength: 40 }), (episodes) => {
        const state = neverRefused();
        let now = NOON;
        for (const [pause, requests] of episodes) {
          recordRefusal(state, now, now + MINUTE_MS, BAN_RULES);
          for (const [gap, wait] of requests.slice(0, 4)) {
            now += gap;
            recordRefusal(state, now, now + wait, BAN_RULES);
          }
          now = Math.max(now + 2_000, state.retryAt + pause);
        }
        expect([state.strikes, state.bans]).toEqual([0, 0]);
      }),
    );
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

  it('begins anew a day after the last strike, to the millisecond', () => {
    for (const [quiet, strikes] of [
      [DAY_MS - 1, 2],
      [DAY_MS, 1],
    ] as const) {
      const state = { ...neverRefused(), strikes: 1, lastStrikeAt: NOON, retryAt: NOON + 2 * DAY_MS };
      recordRefusal(state, NOON + quiet, NOON + 2 * DAY_MS, BAN_RULES);
      expect(state.strikes).toBe(strikes);
    }
  });
});

describe('a clock that was set', () => {
  const state = (): BanState => ({
    retryAt: NOON + 60_000,
    forgivenUntil: NOON + 2_000,
    strikes: 3,
    lastStrikeAt: NOON - 1_000,
    bans: 1,
    bannedUntil: NOON + 5 * MINUTE_MS,
  });

  it.each([DAY_MS, -DAY_MS])(
    'by %i ms takes along what lasts, and makes void what the key was told to wait',
    (by) => {
      const moved = state();
      moveWithClock(moved, by);
      expect(moved).toEqual({
        retryAt: 0,
        forgivenUntil: NOON + 2_000 + by,
        strikes: 3,
        lastStrikeAt: NOON - 1_000 + by,
        bans: 1,
        bannedUntil: NOON + 5 * MINUTE_MS + by,
      });
    },
  );

  it('bans no key that was not banned', () => {
    const moved = { ...state(), bannedUntil: 0 };
    moveWithClock(moved, DAY_MS);
    expect(moved.bannedUntil).toBe(0);
  });

  it('before a restart, or not: what was stored stays as it is, if nothing in it lasts longer than it can', () => {
    expect(heldToLength(state(), NOON, BAN_RULES)).toEqual(state());
    // A strike is no later than the end of the ban that it brought.
    const ended = { ...state(), lastStrikeAt: NOON + 5 * MINUTE_MS };
    expect(heldToLength(ended, NOON, BAN_RULES)).toEqual(ended);
  });

  it.each([
    [1, 5],
    [2, 15],
    [3, 60],
    [4, 1_440],
    [9, 1_440],
  ])('back by a year before a restart: ban %i lasts %i minutes from now', (bans, minutes) => {
    const year = 365 * DAY_MS;
    const stored = { ...state(), bans };
    moveWithClock(stored, year);
    stored.retryAt = stored.bannedUntil;
    const held = heldToLength(stored, NOON, BAN_RULES);
    const end = NOON + minutes * MINUTE_MS;
    expect(held).toEqual({
      strikes: 3,
      bans,
      bannedUntil: end,
      retryAt: NOON + DAY_MS,
      forgivenUntil: NOON + BAN_RULES.forgivenMs,
      lastStrikeAt: end,
    });
  });

  it('back before a restart: a key that was not banned is not, and its last strike was now at the latest', () => {
    const stored = { ...state(), bans: 0, bannedUntil: 0, lastStrikeAt: NOON + DAY_MS };
    expect(heldToLength(stored, NOON, BAN_RULES)).toMatchObject({ bannedUntil: 0, lastStrikeAt: NOON });
  });
});

describe('a key that was refused', () => {
  const PERIOD = 1_000;
  const DAY = 86_400_000;
  const struck = (strikes: number) => ({ ...neverRefused(), strikes });

  it('begins with nothing, and is changed in place', () => {
    const keys = new RefusedKeys(PERIOD);
    expect(keys.find('key')).toBeUndefined();
    const state = keys.touch('key', 0);
    expect(state).toEqual(neverRefused());
    state.strikes = 3;
    expect(keys.find('key')).toBe(state);
    expect(keys.touch('key', 1)).toBe(state);
    expect(keys.find('other')).toBeUndefined();
  });

  it.each([
    ['until a period has passed', 2 * PERIOD - 1, 3],
    ['no longer than two', 2 * PERIOD, undefined],
  ])('is remembered %s since it was refused, while others are', (_, later, strikes) => {
    const keys = new RefusedKeys(PERIOD);
    keys.touch('key', 0).strikes = 3;
    keys.touch('other', PERIOD);
    keys.touch('other', later);
    expect(keys.find('key')?.strikes).toBe(strikes);
  });

  it('is remembered for as long as it is refused once in every period', () => {
    const keys = new RefusedKeys(PERIOD);
    keys.touch('key', 0).strikes = 3;
    for (let now = 0; now < 10 * PERIOD; now += PERIOD) keys.touch('key', now);
    expect(keys.find('key')?.strikes).toBe(3);
  });

  it.each([
    ['two periods', 2 * PERIOD, undefined],
    ['less', 2 * PERIOD - 1, 3],
  ])('when nobody is refused for %s is remembered or not', (_, later, strikes) => {
    const keys = new RefusedKeys(PERIOD);
    keys.touch('key', 0).strikes = 3;
    keys.touch('other', later);
    expect(keys.find('key')?.strikes).toBe(strikes);
  });

  it('is forgotten on demand, whenever it was refused', () => {
    const keys = new RefusedKeys(PERIOD);
    keys.touch('long ago', 0);
    keys.touch('lately', PERIOD);
    for (const key of ['long ago', 'lately']) {
      expect(keys.find(key)).toBeDefined();
      keys.forget(key);
      expect(keys.find(key)).toBeUndefined();
    }
  });

  it('is taken up from elsewhere as it stood there, and from then on is remembered as any other', () => {
    const keys = new RefusedKeys(PERIOD);
    keys.restore('key', struck(7), 0);
    expect(keys.touch('key', 0).strikes).toBe(7);
    keys.restore('other', struck(1), PERIOD);
    expect(keys.find('key')?.strikes).toBe(7);
    keys.restore('other', struck(1), 2 * PERIOD);
    expect(keys.find('key')).toBeUndefined();
  });

  it.each([DAY, -DAY])(
    'moves along with a clock that was set by %i ms, and is remembered for as long',
    (by) => {
      const keys = new RefusedKeys(PERIOD);
      keys.restore('long ago', { ...struck(1), lastStrikeAt: 5 }, 0);
      keys.restore('lately', struck(2), PERIOD);
      const moved = new Map(keys.moveWithClock(by));
      expect([...moved.keys()].toSorted()).toEqual(['lately', 'long ago']);
      expect(moved.get('long ago')?.lastStrikeAt).toBe(5 + by);
      expect(moved.get('lately')).toBe(keys.find('lately'));
      keys.touch('other', 2 * PERIOD - 1 + by);
      expect(keys.find('long ago')).toBeDefined();
      keys.touch('other', 2 * PERIOD + by);
      expect(keys.find('long ago')).toBeUndefined();
      expect(keys.find('lately')).toBeDefined();
    },
  );
});

import { describe, expect, it } from 'vitest';
import { neverRefused } from '../bans.js';
import { RefusedKeys } from './refused-keys.js';

const PERIOD = 1_000;
const DAY = 86_400_000;
const struck = (strikes: number) => ({ ...neverRefused(), strikes });

describe('a key that was refused', () => {
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

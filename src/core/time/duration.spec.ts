import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DURATION_PATTERN, parseDuration } from './duration.js';

describe('a duration', () => {
  it.each([
    ['45s', 45_000],
    ['30m', 1_800_000],
    ['12h', 43_200_000],
    ['90d', 7_776_000_000],
    ['3650d', 315_360_000_000],
    ['0', 0],
  ])('%s is %i ms', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  it.each([
    '',
    '90',
    'd',
    '0d',
    '-1d',
    '+1d',
    '1.5h',
    '1 d',
    '1w',
    '01d',
    '1D',
    '3651d',
    '9999999999d',
    '1e3s',
  ])('"%s" is not a duration', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  it('is one by its documented pattern', () => {
    const pattern = new RegExp(`^(?:0|${DURATION_PATTERN})$`);
    const bounds = { s: 315_360_000, m: 5_256_000, h: 87_600, d: 3_650 };
    const near = fc
      .tuple(fc.constantFrom('s', 'm', 'h', 'd'), fc.integer({ min: -2, max: 2 }))
      .map(([unit, away]) => `${bounds[unit] + away}${unit}`);
    const any = fc
      .tuple(fc.nat(400_000_000), fc.nat(8), fc.constantFrom('s', 'm', 'h', 'd', 'w', ''))
      .map(([amount, digits, unit]) => `${String(amount).slice(0, digits + 1)}${unit}`);
    fc.assert(
      fc.property(fc.oneof(near, any), (text) => {
        expect(pattern.test(text)).toBe(parseDuration(text) !== undefined);
      }),
      { numRuns: 1_000 },
    );
  });
});

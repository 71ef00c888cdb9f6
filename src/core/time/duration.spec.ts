import { describe, expect, it } from 'vitest';
import { parseDuration } from './duration.js';

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
  ])('"%s" is none', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});

import { expect, it } from 'vitest';
import { shortTime } from './short-times.js';

const NOW = Date.parse('2026-05-01T12:00:00.000Z');

it.each([
  ['2026-05-01T12:00:00.999Z', 'now'],
  ['2026-05-01T11:59:15.000Z', '45 s ago'],
  ['2026-05-01T11:57:00.000Z', '3 min ago'],
  ['2026-05-01T10:00:01.000Z', '1 h ago'],
  ['2026-04-29T12:00:00.000Z', '2 d ago'],
  ['2026-05-01T12:00:30.000Z', 'in 30 s'],
  ['2027-06-05T12:00:00.000Z', 'in 400 d'],
])('%s is %s', (instant, text) => {
  expect(shortTime(instant, NOW)).toBe(text);
});

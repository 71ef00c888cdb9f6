import { expect, it } from 'vitest';
import { BAN_RULES } from '../bans.js';
import { MINUTE_MS } from '../../core/time/duration.js';
import type { QuotaRequest } from '../quota.js';
import { KnownCounts, shareOf } from './known-counts.js';

const NOON = Date.UTC(2026, 10, 20, 12);

const requestOf = (subject: string, isClient = true): QuotaRequest => ({
  subject,
  isClient,
  keyId: `key of ${subject}`,
  windows: [{ key: subject, name: 'minute', limit: 100, lengthMs: MINUTE_MS }],
});

function see(known: KnownCounts, subject: string, now: number, seen: number): void {
  for (const count of known.of(requestOf(subject), now)) count.seen = seen;
}

const shareAt = (known: KnownCounts, now: number, instances: number) =>
  shareOf(requestOf('a'), known.of(requestOf('a'), now), instances).windows[0]?.limit;

it.each([
  ['its part of the limit where nothing is known', 0, 3, 33],
  ['its part of what was left', 40, 3, 20],
  ['one where less than one for each was left', 99, 3, 1],
  ['nothing where nothing was left', 100, 1, 0],
  ['nothing where more than the limit was used', 120, 1, 0],
])('an instance alone may admit %s', (_, seen, instances, expected) => {
  const known = new KnownCounts(BAN_RULES);
  see(known, 'a', NOON, seen);
  expect(shareAt(known, NOON, instances)).toBe(expected);
});

it('are not turned back by a late request of the window before, but by a clock that was set back', () => {
  const known = new KnownCounts(BAN_RULES);
  see(known, 'a', NOON, 40);
  see(known, 'a', NOON - 1, 90);
  expect(shareAt(known, NOON, 1)).toBe(60);
  see(known, 'a', NOON - 5 * MINUTE_MS, 70);
  expect(shareAt(known, NOON - 5 * MINUTE_MS, 1)).toBe(30);
});

it('are none of addresses, and of 100,000 clients and more the latest', () => {
  const known = new KnownCounts(BAN_RULES);
  expect(known.of(requestOf('address:1', false), NOON)).toEqual([]);
  see(known, 'a', NOON, 40);
  for (let client = 1; client <= 100_000; client += 1) see(known, `client:${client}`, NOON, 1);
  expect(known.all()).toHaveLength(100_000);
  expect(shareAt(known, NOON, 1)).toBe(100);
});

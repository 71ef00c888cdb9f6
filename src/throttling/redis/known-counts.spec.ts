import { expect, it } from 'vitest';
import { DAY_MS, MINUTE_MS, type QuotaRequest, type QuotaVerdict } from '../quota.js';
import { KnownCounts } from './known-counts.js';
import { reportedVerdict, shareOf } from './shares.js';

const NOON = Date.UTC(2026, 10, 20, 12);

const requestOf = (subject: string, limit = 100): QuotaRequest => ({
  subject,
  isClient: true,
  keyId: `key of ${subject}`,
  windows: [
    { key: subject, name: 'minute', limit, lengthMs: MINUTE_MS },
    { key: subject, name: 'day', limit: 10 * limit, lengthMs: DAY_MS },
  ],
});

const answerOf = (...used: number[]) =>
  ({ windows: used.map((one) => ({ used: one })) }) as unknown as QuotaVerdict;

function learned(known: KnownCounts, subject: string, now: number, ...used: number[]): boolean {
  return known.learn(known.of(requestOf(subject), now), answerOf(...used));
}

const limitsOf = (known: KnownCounts, now: number, instances: number) =>
  shareOf(requestOf('a'), known.of(requestOf('a'), now), instances).windows.map(({ limit }) => limit);

it('leaves each instance its part of what was left, at least one request, and none where none was left', () => {
  const known = new KnownCounts();
  expect(limitsOf(known, NOON, 3)).toEqual([33, 333]);
  learned(known, 'a', NOON, 40, 40);
  expect(limitsOf(known, NOON, 3)).toEqual([20, 320]);
  learned(known, 'a', NOON, 99, 1_000);
  expect(limitsOf(known, NOON, 3)).toEqual([1, 0]);
  // The next minute is a full one.
  expect(limitsOf(known, NOON + MINUTE_MS, 3)).toEqual([33, 0]);
});

it('does not count twice what was admitted alone and told Redis', () => {
  const known = new KnownCounts();
  const counts = known.of(requestOf('a'), NOON);
  known.admittedAlone(counts);
  known.admittedAlone(counts);
  for (const count of known.takeToHandOver(10)) {
    count.handedOver = count.alone;
    count.seen = 10;
  }
  // Of ninety that are left a half, beside the two that the store in this process has counted.
  expect(limitsOf(known, NOON, 2)).toEqual([47, 497]);
});

it('tells the part of the plan as the limit, and what remains as decided', () => {
  const states = [{ name: 'minute', limit: 20, used: 5, remaining: 15, lengthMs: MINUTE_MS, resetsAt: NOON }];
  const told = reportedVerdict({ admitted: true, at: NOON, windows: states }, requestOf('a'), 3);
  expect(told.windows).toEqual([{ ...states[0], limit: 33, used: 18 }]);
});

it('is not turned back by a request of the window before, but by a clock that was set back', () => {
  const known = new KnownCounts();
  learned(known, 'a', NOON, 40, 40);
  expect(learned(known, 'a', NOON - 1, 90, 41)).toBe(false);
  expect(limitsOf(known, NOON, 1)).toEqual([60, 959]);
  expect(limitsOf(known, NOON - 1, 1)).toEqual([100, 959]);
  learned(known, 'a', NOON - 5 * MINUTE_MS, 70, 42);
  expect(limitsOf(known, NOON - 5 * MINUTE_MS, 1)).toEqual([30, 958]);
});

it('takes a count that stayed for no loss, and hands over nothing that Redis never counted', () => {
  const known = new KnownCounts();
  learned(known, 'a', NOON, 40, 0);
  expect(learned(known, 'a', NOON, 40, 0)).toBe(false);
  expect(known.takeToHandOver(10)).toEqual([]);
  known.noteAllToHandOver();
  expect(known.takeToHandOver(10)).toMatchObject([{ lengthMs: MINUTE_MS, seen: 40 }]);
});

it('notices a count that fell, tells of it once, and hands it over', () => {
  const known = new KnownCounts();
  learned(known, 'a', NOON, 40, 40);
  expect(known.takeToHandOver(10)).toEqual([]);
  expect(learned(known, 'a', NOON, 3, 41)).toBe(true);
  expect(learned(known, 'a', NOON, 4, 42)).toBe(false);
  expect(known.takeToHandOver(10)).toMatchObject([{ lengthMs: MINUTE_MS, seen: 40 }]);
  expect(known.takeToHandOver(10)).toEqual([]);
  known.noteAllToHandOver();
  expect(known.takeToHandOver(1)).toHaveLength(1);
  expect(known.takeToHandOver(10)).toMatchObject([{ lengthMs: DAY_MS, seen: 42 }]);
});

it('hands over nothing of a window that has passed', () => {
  const known = new KnownCounts();
  known.admittedAlone(known.of(requestOf('a'), NOON));
  known.of(requestOf('a'), NOON + MINUTE_MS);
  expect(known.takeToHandOver(10)).toMatchObject([{ lengthMs: DAY_MS, alone: 1 }]);
  // Nor of what is admitted late.
  const late = known.of(requestOf('b'), NOON + MINUTE_MS);
  known.of(requestOf('b'), NOON + 2 * MINUTE_MS);
  known.admittedAlone(late);
  expect(known.takeToHandOver(10)).toMatchObject([{ lengthMs: DAY_MS, key: 'b' }]);
});

it('keeps nothing of addresses, and of 100,000 clients and more the latest', () => {
  const known = new KnownCounts();
  expect(known.of({ ...requestOf('address:1'), isClient: false }, NOON)).toEqual([]);
  learned(known, 'a', NOON, 40, 40);
  for (let client = 1; client < 100_000; client += 1) learned(known, `client:${client}`, NOON, 1, 1);
  expect(limitsOf(known, NOON, 1)).toEqual([60, 960]);
  known.admittedAlone(known.of(requestOf('a'), NOON));
  learned(known, 'one more', NOON, 1, 1);
  known.noteAllToHandOver();
  expect(known.takeToHandOver(300_000)).toHaveLength(200_000);
  expect(limitsOf(known, NOON, 1)).toEqual([100, 1_000]);
});

it('knows bans until they end or are lifted', () => {
  const known = new KnownCounts();
  const request = requestOf('a');
  known.of(request, NOON);
  const banned = { ...answerOf(), bannedUntil: NOON + 1_000 };
  expect(known.learnBan(request, answerOf())).toBe(false);
  expect(known.learnBan(request, banned)).toBe(true);
  expect(known.learnBan(request, banned)).toBe(false);
  expect(known.runningBans()).toEqual([{ keyId: 'key of a', subject: 'a', until: NOON + 1_000 }]);
  expect(known.learnBan(request, answerOf())).toBe(true);
  expect(known.runningBans()).toEqual([]);
  known.learnBan(request, banned);
  known.of(request, NOON + 1_000);
  expect(known.runningBans()).toEqual([]);
  known.learnBan(request, { ...banned, bannedUntil: NOON + 9_000 });
  known.forgetBan('key of a');
  expect(known.runningBans()).toEqual([]);
});

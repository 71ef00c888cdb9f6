import { expect, it, vi } from 'vitest';
import { RetryPauses } from './retry-pauses.js';

function pausesAt(chance: number) {
  const time = { now: 1_000_000 };
  vi.spyOn(performance, 'now').mockImplementation(() => time.now);
  vi.spyOn(Math, 'random').mockReturnValue(chance);
  return { time, pauses: new RetryPauses() };
}

it('doubles from 100 ms to five seconds', () => {
  const { pauses } = pausesAt(0);
  const told = Array.from({ length: 8 }, () => pauses.next());
  expect(told).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
});

it('leaves up to a half to chance', () => {
  const { pauses } = pausesAt(1);
  expect([pauses.next(), pauses.next()]).toEqual([50, 100]);
});

it('goes on where it was when Redis fails within ten seconds, and begins anew after them', () => {
  const { pauses, time } = pausesAt(0);
  pauses.next();
  pauses.up();
  time.now += 9_999;
  expect(pauses.next()).toBe(200);
  // Not up since: a long outage is no success.
  time.now += 60_000;
  expect(pauses.next()).toBe(400);
  pauses.up();
  time.now += 10_000;
  expect(pauses.next()).toBe(100);
});

import { beforeEach, expect, it, vi } from 'vitest';
import { RequestsInFlight } from './requests-in-flight.js';

const RESPONSE = { countedIn: undefined, abandoned: undefined, isWaiting: false };

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));

/** Sends responses evenly over a time, and keeps reading the rate. */
function respond(rate: RequestsInFlight, requests: number, ms: number): void {
  for (let at = 0; at < ms; at += 10) {
    for (let done = 0; done < (requests * 10) / ms; done += 1) rate.end(RESPONSE);
    vi.advanceTimersByTime(10);
    void rate.completedPerSecond;
  }
}

it('is that of the latest windows; it rises within a second, and halves in no less than three', () => {
  const rate = new RequestsInFlight();
  respond(rate, 6_000, 1_000);
  expect(rate.completedPerSecond).toBeGreaterThan(5_000);
  const before = rate.completedPerSecond;
  respond(rate, 3_000, 3_000);
  expect(rate.completedPerSecond).toBeGreaterThan(before / 2);
  respond(rate, 20_000, 20_000);
  expect(rate.completedPerSecond).toBeCloseTo(1_000, -2);
});

it('is the same for responses that come in groups', () => {
  const rate = new RequestsInFlight();
  for (let group = 0; group < 20; group += 1) {
    for (let done = 0; done < 500; done += 1) rate.end(RESPONSE);
    vi.advanceTimersByTime(100);
    void rate.completedPerSecond;
  }
  expect(rate.completedPerSecond).toBeGreaterThan(4_000);
  expect(rate.completedPerSecond).toBeLessThan(6_500);
});

it('is the mean of a long time without a question', () => {
  const rate = new RequestsInFlight();
  for (let done = 0; done < 60; done += 1) rate.end(RESPONSE);
  vi.advanceTimersByTime(60_000);
  expect(rate.completedPerSecond).toBe(1);
});

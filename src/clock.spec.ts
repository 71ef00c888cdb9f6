import { describe, expect, it } from 'vitest';
import { TestClock } from '../test/support/test-clock.js';
import { ClockSteps } from './clock.js';

function open() {
  const clock = new TestClock('2026-11-20T12:00:00.000Z');
  clock.advance(12_345);
  return { clock, steps: new ClockSteps(clock) };
}

describe('a step of the clock', () => {
  it('is none while time passes', () => {
    const { clock, steps } = open();
    clock.advance(86_400_000);
    expect(steps.take()).toBe(0);
  });

  it.each([3_600_000, -3_600_000, 500, -500])('of %i ms is told, once', (by) => {
    const { clock, steps } = open();
    clock.advance(1_000);
    clock.step(by);
    expect([steps.take(), steps.take()]).toEqual([by, 0]);
  });

  it('of less than half a second is not, until several add up', () => {
    const { clock, steps } = open();
    clock.step(300);
    expect(steps.take()).toBe(0);
    clock.step(199);
    expect(steps.take()).toBe(0);
    clock.step(1);
    expect(steps.take()).toBe(500);
  });
});

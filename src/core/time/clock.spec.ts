import { describe, expect, it } from 'vitest';
import { SystemClock } from './clock.js';

describe('the clock of the machine', () => {
  it('tells the time, and a time that never steps', () => {
    const clock = new SystemClock();
    const [now, steady] = [Date.now(), performance.now()];
    expect(clock.now()).toBeGreaterThanOrEqual(now);
    expect(clock.now()).toBeLessThanOrEqual(Date.now());
    expect(clock.steady()).toBeGreaterThanOrEqual(steady);
    expect(clock.steady()).toBeLessThanOrEqual(performance.now());
  });
});

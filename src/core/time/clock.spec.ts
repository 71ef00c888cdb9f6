import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { TestClock } from '../../../test/kit/test-clock.js';
import { ClockSteps, SystemClock } from './clock.js';

const READS_CLOCK = /\bDate\.now\b|\bperformance\.now\b|\bhrtime\b|\bnew Date\(\)/;
/** Of SQLite's locks, in logs and metrics, of connections, of the stop and of workers' lives; see clock.ts. */
const MEASURING =
  /^(?:core\/(?:time\/clock\.ts|logging\/|metrics\/)|cli\/start\/|http\/|webhooks\/event-loop-share|database\/(?:sqlite|postgres)\/)/;

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

describe('the clock of the machine', () => {
  it('tells the time, and a time that never steps', () => {
    const clock = new SystemClock();
    const [now, steady] = [Date.now(), performance.now()];
    expect(clock.now()).toBeGreaterThanOrEqual(now);
    expect(clock.now()).toBeLessThanOrEqual(Date.now());
    expect(clock.steady()).toBeGreaterThanOrEqual(steady);
    expect(clock.steady()).toBeLessThanOrEqual(performance.now());
  });

  it('is read past Clock only by what measures how long the machine itself takes', async () => {
    const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
    const readers: string[] = [];
    for (const file of await readdir(root, { recursive: true })) {
      if (!file.endsWith('.ts') || file.endsWith('.spec.ts')) continue;
      const code = (await readFile(join(root, file), 'utf8')).replaceAll(/^\s*(?:\/?\*|\/\/).*$/gm, '');
      if (READS_CLOCK.test(code) && !MEASURING.test(file)) readers.push(file);
    }
    expect(readers).toEqual([]);
  });
});

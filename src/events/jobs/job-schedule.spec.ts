import 'reflect-metadata';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Job, type JobOptions } from './job.decorator.js';
import { scheduleError, dueAfter, isDue, retryDelay } from './job-schedule.js';

const at = (text: string) => Date.parse(`2026-11-20T${text}Z`);
const DAY = 86_400_000;
const MINUTE = 60_000;

describe('a job is due next', () => {
  it('at a time of its schedule, within one period after the start, for any times', () => {
    const instant = fc.integer({ min: 0, max: 4e12 });
    fc.assert(
      fc.property(fc.integer({ min: 1_000, max: 366 * DAY }), instant, instant, (every, wasDue, started) => {
        const due = dueAfter({ every }, wasDue, started);
        expect(due).toBeGreaterThan(started);
        expect(due - started).toBeLessThanOrEqual(every);
        expect(Math.abs(due - wasDue) % every).toBe(0);
      }),
    );
  });

  it('after now and within a day, at any time', () => {
    const time = fc.tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }));
    fc.assert(
      fc.property(time, fc.integer({ min: 0, max: 4e12 }), ([hour, minute], now) => {
        const text = `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
        const due = dueAfter({ at: text }, now, now);
        expect(due).toBeGreaterThan(now);
        expect(due - now).toBeLessThanOrEqual(DAY);
        expect(new Date(due).toISOString().slice(11, 19)).toBe(`${text}:00`);
      }),
    );
  });
});

describe('a job that is due at 12:00', () => {
  const due = at('12:00:00');
  it.each([
    ['is not due before', { every: MINUTE }, 0, '11:59:59', false],
    ['is due then', { every: MINUTE }, 0, '12:00:00', true],
    ['is due when that was missed', { every: MINUTE }, 0, '23:00:00', true],
    ['is not due where another clock is a minute behind', { every: MINUTE }, 0, '11:58:00', false],
    ['is due when the clock was put back by more', { every: MINUTE }, 0, '11:57:59', true],
    ['waits for its retry', { every: MINUTE }, 5, '11:45:00', false],
    ['is due when the clock was put back over its retry', { every: MINUTE }, 5, '11:43:59', true],
    ['waits for its day', { at: '12:00' }, 0, '00:00:00', false],
  ])('%s', (_, schedule, failures, now, expected) => {
    expect(isDue(schedule, due, failures, at(now))).toBe(expected);
  });
});

it.each([
  [{ every: 3_600_000 }, [1, 2, 4, 8, 15, 15]],
  [{ at: '03:00' }, [1, 2, 4, 8, 15, 15]],
  [{ every: 30_000 }, [0.5, 1, 2, 4, 8, 15]],
])('a job of %o that fails is tried again after %o minutes', (schedule, minutes) => {
  expect(minutes.map((_, index) => retryDelay(schedule, index + 1) / MINUTE)).toEqual(minutes);
  expect(retryDelay(schedule, 1_000_000)).toBe(15 * MINUTE);
});

describe('a schedule', () => {
  it.each([{ every: 0 }, { every: 999 }, { every: 1_000.5 }, { every: Number.NaN }, { every: 367 * DAY }])(
    'is not %o',
    (schedule) => expect(scheduleError(schedule)).toMatch(/^every: .* is not a whole number of milliseconds/),
  );
  it.each(['24:00', '3:00', '03:60', '03:00:00', '', '03:00Z'])('is not at %o', (time) => {
    expect(scheduleError({ at: time })).toContain('is not a time in UTC');
  });
  it.each([{ every: 1_000 }, { every: 366 * DAY }, { at: '00:00' }, { at: '23:59' }])('is %o', (schedule) => {
    expect(scheduleError(schedule)).toBeUndefined();
  });
});

const declare = (options: JobOptions) => () => {
  class Counter {
    @Job(options)
    count(): Promise<void> {
      return Promise.resolve();
    }
  }
  return Counter;
};

it.each(['', 'expire', 'Adoptions.expire', 'adoptions expire', `a.${'b'.repeat(99)}`])(
  'no job is called %o',
  (name) => {
    expect(declare({ name, every: MINUTE })).toThrow(
      `Counter.count: the job "${name}" is not of the form subject.verb, such as adoptions.expire: `,
    );
  },
);

it('a job with a wrong schedule is named', () => {
  expect(declare({ name: 'pets.count', at: '25:00' })).toThrow(
    'Counter.count: the job "pets.count" has at: "25:00", which is not a time in UTC from 00:00 to 23:59.',
  );
});

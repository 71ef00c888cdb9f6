import { Injectable, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { BackgroundLoops } from '../../src/events/jobs/background-loops.js';
import { Job } from '../../src/events/jobs/job.decorator.js';
import { JobState } from '../../src/events/jobs/job.entity.js';
import { Jobs } from '../../src/events/jobs/jobs.js';
import { Lease } from '../../src/events/jobs/lease.entity.js';
import { TestService, type TestServiceOptions } from '../kit/test-service.js';
import { gate } from '../support/gate.js';
import { openForTest } from '../support/opened.js';

const HOUR = 3_600_000;
/** How far the clock and the timers move at a time, in milliseconds. */
const STEP = 50;

/** What the job does; a test sets it. */
const doing = { tick: (): Promise<void> => Promise.resolve() };

@Injectable()
class Ticker {
  @Job({ name: 'pets.tick', every: 1_000 })
  tick(): Promise<void> {
    return doing.tick();
  }
}
@Module({ providers: [Ticker] })
class TickerModule {}

beforeEach(() => void (doing.tick = () => Promise.resolve()));

/** A service whose jobs run by themselves, on timers that move with its clock alone. */
async function open(options: TestServiceOptions = {}) {
  const service = await openForTest({ modules: [TickerModule], ...options });
  const { clock } = service;
  const started = clock.now();
  const startTimes: number[] = [];
  doing.tick = () => Promise.resolve(void startTimes.push(clock.now() - started));
  const jobs = service.app.get(Jobs);
  const states = service.repository(JobState);
  const pass = (milliseconds: number): void => {
    for (let passed = 0; passed < milliseconds; passed += STEP) {
      clock.advance(STEP);
      vi.advanceTimersByTime(STEP);
    }
  };
  /** Waits until the given number of runs have started, and the last has stored when the next is due. */
  const runs = async (count: number): Promise<void> => {
    await expect.poll(() => startTimes.length).toBe(count);
    await expect
      .poll(() => service.repository(Lease).findOneBy({ name: 'job/pets.tick' }))
      .toMatchObject({ holder: null });
  };
  /** Lets the jobs run by themselves; the timers of the service are those of the test from here on. */
  const start = async (): Promise<void> => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
    jobs.start();
    vi.advanceTimersByTime(0);
    await jobs.runDue();
  };
  return { service, clock, begun: startTimes, jobs, states, pass, runs, begin: start };
}

describe('a job of 1 s', () => {
  it('starts at its time, no matter when the service started to check', async () => {
    const { begun: startTimes, clock, begin: start, pass, runs } = await open();
    clock.advance(350);
    await start();
    pass(650);
    await runs(1);
    for (let run = 2; run <= 5; run += 1) {
      pass(1_000);
      await runs(run);
    }
    expect(startTimes).toEqual([1_000, 2_000, 3_000, 4_000, 5_000]);
  });

  it('that takes longer than its period is not followed by a burst', async () => {
    const { begun: startTimes, begin: start, pass, runs } = await open();
    await start();
    const end = gate();
    const { tick } = doing;
    doing.tick = async () => {
      await tick();
      await end.opened;
    };
    pass(1_000);
    await expect.poll(() => startTimes.length).toBe(1);
    doing.tick = tick;
    pass(2_300);
    end.open();
    await runs(1);
    for (const [run, milliseconds] of [700, 1_000, 1_000].entries()) {
      // The timer of what is overdue is due immediately.
      vi.advanceTimersByTime(0);
      await runs(run + 2);
      pass(milliseconds);
    }
    await runs(5);
    expect(startTimes).toEqual([1_000, 3_300, 4_000, 5_000, 6_000]);
  });

  it.each([
    ['back by an hour', -HOUR],
    ['forward by an hour', HOUR],
    ['back by a year', -365 * 24 * HOUR],
    ['forward by a year', 365 * 24 * HOUR],
  ])('runs within a second when the clock is set %s, and then at its times', async (_, by) => {
    const { begun: startTimes, clock, begin: start, pass, runs } = await open();
    await start();
    pass(1_000);
    await runs(1);
    pass(100);
    clock.step(by);
    pass(900);
    await runs(2);
    pass(1_000);
    await runs(3);
    expect(startTimes.slice(1)).toEqual([by + 2_000, by + 3_000]);
  });

  it('that another process runs is looked for each second, not all the time', async () => {
    const { service, begun: startTimes, begin: start, pass } = await open();
    await service.repository(Lease).insert({ name: 'job/pets.tick', holder: 'other', beat: 1 });
    await start();
    const query = vi.spyOn(service.app.get(DataSource).manager, 'findOneBy');
    pass(1_000);
    // It asks when the job is due, and then who runs it.
    await expect.poll(() => query.mock.calls.map(([entity]) => entity)).toContain(Lease);
    const queries = query.mock.calls.length;
    for (let beat = 2; beat <= 10; beat += 1) {
      vi.advanceTimersByTime(STEP);
      await service.repository(Lease).update('job/pets.tick', { beat });
    }
    expect(query.mock.calls.length).toBe(queries);
    expect(startTimes).toEqual([]);
  });

  it('starts none after the stop', async () => {
    const { begun: startTimes, service, begin: start, pass } = await open();
    await start();
    await service.app.get(BackgroundLoops).stop();
    pass(3_000);
    expect(startTimes).toEqual([]);
  });
});

it('two jobs of one name stop the start', async () => {
  @Injectable()
  class Other {
    @Job({ name: 'pets.tick', every: 60_000 })
    again(): Promise<void> {
      return Promise.resolve();
    }
  }
  @Module({ providers: [Other] })
  class OtherModule {}
  await expect(TestService.open({ modules: [TickerModule, OtherModule] })).rejects.toThrow(
    'Job "pets.tick" is declared twice: by Ticker.tick and Other.again.',
  );
});

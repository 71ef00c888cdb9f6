import { Injectable, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { beforeEach, describe, expect, it } from 'vitest';
import { Transactions } from '../../src/database/transactions/transactions.js';
import { DataVersion } from '../../src/database/data-version.js';
import { Job } from '../../src/events/jobs/job.decorator.js';
import { JobState } from '../../src/events/jobs/job.entity.js';
import { Jobs } from '../../src/events/jobs/jobs.js';
import { Lease } from '../../src/events/jobs/lease.entity.js';
import { Leases } from '../../src/events/jobs/leases.js';
import { type TestService, type TestServiceOptions } from '../kit/test-service.js';
import { itOnSqlite, refuseWrites } from '../support/databases.js';
import { gate } from '../support/gate.js';
import { databaseOf, openForTest } from '../support/opened.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** What the jobs of the tests do, and what they did. */
const doing = {
  ran: [] as string[],
  count: (_signal: AbortSignal): Promise<void> => Promise.resolve(),
};

@Injectable()
class Jobber {
  constructor(private readonly transactions: Transactions) {}

  @Job({ name: 'pets.count', every: MINUTE })
  async count(signal: AbortSignal): Promise<void> {
    doing.ran.push(this.transactions.isInside() ? 'in a transaction' : 'counted');
    await doing.count(signal);
  }

  @Job({ name: 'pets.report', at: '03:30' })
  report(): Promise<void> {
    doing.ran.push('reported');
    return Promise.resolve();
  }
}
@Module({ providers: [Jobber] })
class JobberModule {}

beforeEach(() => {
  doing.ran = [];
  doing.count = () => Promise.resolve();
});

async function open(options: TestServiceOptions = {}) {
  const service = await openForTest({
    at: '2026-11-20T12:00:00.000Z',
    ...options,
    modules: [JobberModule],
  });
  const jobs = service.app.get(Jobs);
  const leases = service.app.get(Leases);
  const runs = (outcome: string) => service.metric('petstore_job_runs_total', { job: 'pets.count', outcome });
  return { service, jobs, leases, runs, clock: service.clock };
}

/** Two instances of the service on one file. */
async function two() {
  const first = await open({ database: 'file' });
  return [first, await open({ environment: databaseOf(first.service) })] as const;
}

/** A job that is under way until it is let go. */
function underWay() {
  const [hasStarted, end] = [gate(), gate()];
  const signals: AbortSignal[] = [];
  doing.count = (signal) => {
    signals.push(signal);
    hasStarted.open();
    return end.opened;
  };
  return { started: hasStarted.opened, release: end.open, signals };
}

describe('a job', () => {
  it('runs when it is due, once for all runs that were missed, and is counted in metrics', async () => {
    const { service, jobs, clock, runs } = await open();
    await jobs.runDue();
    clock.advance(MINUTE - 1);
    await jobs.runDue();
    expect(doing.ran).toEqual([]);
    clock.advance(1);
    for (let passes = 0; passes < 3; passes += 1) await jobs.runDue();
    expect(doing.ran).toEqual(['counted']);
    clock.advance(10 * MINUTE);
    for (let passes = 0; passes < 3; passes += 1) await jobs.runDue();
    expect(doing.ran).toEqual(['counted', 'counted']);
    clock.set('2026-11-21T03:30:00.000Z');
    await jobs.runDue();
    expect(doing.ran.slice(2).toSorted()).toEqual(['counted', 'reported']);
    expect(await runs('succeeded')).toBe(3);
    doing.count = () => Promise.resolve(clock.advance(2_500));
    await jobs.run('pets.count');
    expect(await service.metric('petstore_job_duration_seconds_sum', { job: 'pets.count' })).toBe(2.5);
    const last = { job: 'pets.count' };
    expect(await service.metric('petstore_job_last_success_timestamp_seconds', last)).toBe(
      clock.now() / 1_000,
    );
  });

  it('runs after a restart if it was missed in the meantime', async () => {
    const first = await open({ database: 'file' });
    await first.jobs.runDue();
    const second = await open({ environment: databaseOf(first.service), at: '2026-11-21T12:00:00.000Z' });
    await second.jobs.runDue();
    expect(doing.ran.toSorted()).toEqual(['counted', 'reported']);
  });

  it('runs on demand, throws there what it throws, and is refused in a transaction, which it would wait for', async () => {
    const { service, jobs } = await open();
    await jobs.run('pets.count');
    expect(doing.ran).toEqual(['counted']);
    doing.count = () => Promise.reject(new Error('no pets'));
    await expect(jobs.run('pets.count')).rejects.toThrow('no pets');
    doing.count = () => Promise.reject(undefined);
    await expect(jobs.run('pets.count')).rejects.toThrow('Job "pets.count" failed.');
    await expect(jobs.run('pets.feed')).rejects.toThrow(
      /no job "pets\.feed"\. The jobs are (.+, )?pets\.count, pets\.report/,
    );
    await service.app.get(DataSource).transaction(async () => {
      await expect(jobs.run('pets.count')).rejects.toThrow('outside the transaction');
    });
  });

  itOnSqlite('that fails is tried again later each time, and comes back to its period', async () => {
    const { jobs, clock, runs } = await open();
    doing.count = () => Promise.reject(new Error('away'));
    clock.advance(MINUTE);
    await jobs.runDue();
    const waits: number[] = [];
    for (let minutes = 0, tried = doing.ran.length; waits.length < 5; minutes += 1) {
      if (doing.ran.length > tried) {
        waits.push(minutes);
        [minutes, tried] = [0, doing.ran.length];
      }
      clock.advance(MINUTE);
      await jobs.runDue();
    }
    expect(waits).toEqual([1, 2, 4, 8, 15]);
    doing.count = () => Promise.resolve();
    clock.advance(15 * MINUTE);
    await jobs.runDue();
    clock.advance(MINUTE);
    await jobs.runDue();
    expect(await runs('succeeded')).toBe(2);
  });

  // On PostgreSQL each commit counts.
  itOnSqlite('leaves what is cached alone', async () => {
    const { service, jobs } = await open({ database: 'file' });
    const version = () => service.app.get(DataVersion).versions().responses;
    const before = version();
    await jobs.run('pets.count');
    expect(before).toBeTypeOf('number');
    expect(version()).toBe(before);
  });
});

describe('one process at a time', () => {
  it('runs a job that is due, without overlaps, of many that check at the same moment', async () => {
    const [first, second] = await two();
    const { started, release } = underWay();
    const running = first.jobs.run('pets.count');
    await started;
    for (const { jobs, clock } of [first, second]) {
      clock.advance(2 * MINUTE);
      // The holder is alive: it renews.
      await first.leases.renewAll();
      await expect(jobs.run('pets.count')).rejects.toThrow('is running');
    }
    release();
    await running;
    expect(doing.ran).toEqual(['counted']);
    doing.count = () => Promise.resolve();
    await second.jobs.run('pets.count');
    for (const { clock } of [first, second]) clock.advance(MINUTE);
    await Promise.all([first, second, first, second].map(({ jobs }) => jobs.runDue()));
    expect(doing.ran).toEqual(['counted', 'counted', 'counted']);
  });

  it('takes over after 15 s from one that died, without a clock that can be set', async () => {
    const { service, jobs, clock } = await open();
    const dead = { name: 'job/pets.count', holder: 'dead', beat: 7 };
    await service.repository(Lease).insert(dead);
    clock.advance(MINUTE);
    await jobs.runDue();
    // While it lives it is not taken from, however long.
    for (let beat = 8; beat < 12; beat += 1) {
      clock.advance(14_000);
      await jobs.runDue();
      await service.repository(Lease).update(dead.name, { beat });
    }
    await jobs.runDue();
    clock.step(24 * HOUR);
    await jobs.runDue();
    clock.step(-48 * HOUR);
    clock.advance(14_999);
    await jobs.runDue();
    expect(doing.ran).not.toContain('counted');
    clock.advance(1);
    await jobs.runDue();
    expect(doing.ran).toContain('counted');
    expect(await service.repository(Lease).findOneBy({ name: dead.name })).toMatchObject({ holder: null });
  });

  it.each([
    [
      'was taken over',
      async (service: TestService) => {
        await service.repository(Lease).update('job/pets.count', { holder: 'other' });
      },
    ],
    [
      'could not be renewed for 10 s',
      (service: TestService) => Promise.resolve(service.clock.advance(10_000)),
    ],
  ])('aborts a job whose lease %s, and leaves it due', async (_, lose) => {
    const { service, jobs, leases, runs, clock } = await open();
    // A run that succeeded would be due later than the first.
    clock.advance(1_000);
    const { started, release, signals } = underWay();
    const running = jobs.run('pets.count').catch(() => undefined);
    await started;
    const { dueAt } = await service.repository(JobState).findOneByOrFail({ name: 'pets.count' });
    await leases.renewAll();
    expect(signals[0]?.aborted).toBe(false);
    await lose(service);
    await leases.renewAll();
    expect(signals[0]?.aborted).toBe(true);
    release();
    await running;
    expect(await runs('aborted')).toBe(1);
    expect((await service.repository(JobState).findOneByOrFail({ name: 'pets.count' })).dueAt).toBe(dueAt);
  });
});

describe('a stop', () => {
  itOnSqlite('waits for the job that runs', async () => {
    const { service, jobs } = await open();
    const { started, release, signals } = underWay();
    const running = jobs.run('pets.count');
    await started;
    const closed = service.close().then(() => doing.ran.push('closed'));
    await new Promise(setImmediate);
    release();
    await running.then(() => doing.ran.push('ended'));
    await closed;
    expect([doing.ran, signals[0]?.aborted]).toEqual([['counted', 'ended', 'closed'], false]);
    await expect(jobs.run('pets.count')).rejects.toThrow('the service is shutting down');
  });

  itOnSqlite('aborts it after SHUTDOWN_TIMEOUT_MS, and ends even if it ignores that', async () => {
    const { service, jobs } = await open({ environment: { SHUTDOWN_TIMEOUT_MS: '50' } });
    const { started, signals } = underWay();
    void jobs.run('pets.count').catch(() => undefined);
    await started;
    await service.close();
    expect(signals[0]?.aborted).toBe(true);
  });
});

describe('a database that refuses writes', () => {
  it('delays jobs until it accepts them again', async () => {
    const { service, jobs, clock } = await open();
    const dataSource = service.app.get(DataSource);
    await jobs.runDue();
    await refuseWrites(dataSource, true);
    clock.advance(MINUTE);
    for (let passes = 0; passes < 3; passes += 1) await jobs.runDue();
    expect(doing.ran).toEqual([]);
    await refuseWrites(dataSource, false);
    await jobs.runDue();
    expect(doing.ran).toEqual(['counted']);
  });
});

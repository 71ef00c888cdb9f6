import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { Clock } from '../clock.js';
import { Settings } from '../config/settings.js';
import { CacheNeutralWrites } from '../database/cache-neutral-writes.js';
import { OneAtATime } from '../database/one-at-a-time.js';
import { Transactions } from '../database/transactions.js';
import { JOB, type JobOptions } from './job.decorator.js';
import { JobMetrics, type JobOutcome } from './job-metrics.js';
import { dueAfter, isDue, retryDelay } from './job-schedule.js';
import { JobState } from './job.entity.js';
import { Leases } from './leases.js';
import { type ProviderMethod, providerMethods } from './provider-methods.js';
import { Running } from './running.js';

/** How often due jobs are looked for, in milliseconds. */
const PERIOD_MS = 1_000;

/**
 * Runs the background jobs that `@Job()` declares: one process among all on the database, one run of a job at a time. Runs that
 * were missed are one run. A job that is new to the database is first due one period after the start. Nothing runs by itself before
 * `begin()`, which main calls: the command line starts no job, and a test runs those that it wants.
 */
@Injectable()
export class Jobs implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Jobs');
  private readonly jobs = new Map<string, ProviderMethod<JobOptions>>();
  /** When the database says that a job is due, as far as it was read. */
  private readonly known = new Map<string, { readonly dueAt: number; readonly failures: number }>();
  private readonly running = new Running();
  private readonly looks = new OneAtATime(() => this.look());
  private timer: NodeJS.Timeout | undefined;
  private startedAt = 0;
  /** Whether the database refused what jobs need; the log is told when that begins and when it ends. */
  private isFailing = false;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
    private readonly writes: CacheNeutralWrites,
    private readonly leases: Leases,
    private readonly metrics: JobMetrics,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  onApplicationBootstrap(): void {
    this.startedAt = this.clock.now();
    for (const job of providerMethods<JobOptions>(this.discovery, this.scanner, JOB)) {
      const { name } = job.declared;
      const other = this.jobs.get(name);
      if (other) throw new Error(`Job "${name}" is declared twice: by ${other.source} and ${job.source}.`);
      this.jobs.set(name, job);
    }
  }

  async onModuleDestroy(): Promise<void> {
    await this.stop();
  }

  /** Runs jobs from now on when they are due. */
  begin(): void {
    if (this.jobs.size === 0 || this.running.isStopping) return;
    this.timer = setInterval(() => void this.looks.run(), PERIOD_MS);
    // The timer alone must not keep the process running.
    this.timer.unref();
  }

  /** Starts no job any more; waits for those that run, at most SHUTDOWN_TIMEOUT_MS, then aborts them. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.running.stop(this.settings.shutdownTimeoutMs);
  }

  /** Runs the jobs that are due and waits for them. Never rejects: the log tells of failures. */
  async runDue(): Promise<void> {
    await this.looks.run();
    await this.running.settled();
  }

  /**
   * Runs a job now, due or not. Throws what the job throws, and an Error when there is no such job, when it is running, or when
   * the caller is in a transaction.
   */
  async run(name: string): Promise<void> {
    const job = this.jobs.get(name);
    if (!job) throw new Error(`There is no job "${name}"; there are: ${[...this.jobs.keys()].join(', ')}.`);
    if (this.transactions.isInside()) throw new Error(`Run job "${name}" outside of the transaction.`);
    const outcome = await this.running.run(name, () => this.attempt(job, 'now'));
    if (!outcome)
      throw new Error(`Job "${name}" is running, here or in another process, or the service stops.`);
    if (outcome.error !== undefined) throw outcome.error;
  }

  /** Begins the jobs that are due, as far as this process knows; the database has the last word. Never rejects. */
  private async look(): Promise<void> {
    for (const [name, job] of this.jobs) {
      if (this.running.has(name) || this.running.isStopping || !(await this.isDue(job))) continue;
      this.running
        .run(name, () => this.attempt(job, 'if due'))
        .then(
          (outcome) => outcome && this.recover(),
          (error: unknown) => this.fail(error),
        );
    }
  }

  private async isDue({ declared }: ProviderMethod<JobOptions>): Promise<boolean> {
    const known = this.known.get(declared.name);
    if (known && !isDue(declared, known.dueAt, known.failures, this.clock.now())) return false;
    try {
      const { dueAt, failures } = await this.state(declared);
      return isDue(declared, dueAt, failures, this.clock.now());
    } catch (error) {
      this.fail(error);
      return false;
    }
  }

  /** Runs a job, if this process may; undefined when another one runs it, or has run it meanwhile. */
  private async attempt(
    job: ProviderMethod<JobOptions>,
    when: 'now' | 'if due',
  ): Promise<JobOutcome | undefined> {
    const { declared } = job;
    const held = await this.leases.hold(`job/${declared.name}`, async (lost) => {
      const { dueAt, failures } = await this.state(declared);
      const begun = this.clock.now();
      if (when === 'if due' && !isDue(declared, dueAt, failures, begun)) return undefined;
      const outcome = await this.carryOut(job, lost);
      await this.conclude(job, outcome, begun, failures);
      return outcome;
    });
    return held?.result;
  }

  private async carryOut(job: ProviderMethod<JobOptions>, lost: AbortSignal): Promise<JobOutcome> {
    const signal = AbortSignal.any([lost, this.running.signal]);
    const begun = this.clock.steady();
    const outcome = await this.transactions.outside(async (): Promise<JobOutcome> => {
      try {
        await job.call(signal);
        return { is: signal.aborted ? 'aborted' : 'succeeded' };
      } catch (error) {
        return { is: signal.aborted ? 'aborted' : 'failed', error };
      }
    });
    this.metrics.count(job.declared.name, outcome, (this.clock.steady() - begun) / 1_000);
    return outcome;
  }

  /** Stores when it is due next. One that was aborted stays due: it has not done its work. */
  private async conclude(
    { declared }: ProviderMethod<JobOptions>,
    { is, error }: JobOutcome,
    begun: number,
    before: number,
  ): Promise<void> {
    const { name } = declared;
    if (is === 'aborted') return this.logger.warn(`Job ${name} was aborted; it is run again`);
    const failures = is === 'failed' ? before + 1 : 0;
    if (failures === 1) this.logger.error(`Job ${name} failed; it is tried again until it succeeds`, error);
    if (failures === 0 && before > 0) this.logger.log(`Job ${name} succeeds again, after ${before} failures`);
    const dueAt =
      is === 'failed' ? this.clock.now() + retryDelay(declared, failures) : dueAfter(declared, begun);
    // Also when it cannot be stored: it must not run again at once.
    this.known.set(name, { dueAt, failures });
    await this.writes.run((manager) =>
      manager.update(JobState, { name }, { dueAt: BigInt(dueAt), failures }),
    );
  }

  /** What the database knows of a job; a job that is new to it is due one period after the start. */
  private async state(job: JobOptions): Promise<{ dueAt: number; failures: number }> {
    const { name } = job;
    let row = await this.dataSource.manager.findOneBy(JobState, { name });
    if (!row) {
      const values = { name, dueAt: BigInt(dueAfter(job, this.startedAt)), failures: 0 };
      await this.writes.run((manager) =>
        manager.createQueryBuilder().insert().into(JobState).values(values).orIgnore().execute(),
      );
      row = await this.dataSource.manager.findOneByOrFail(JobState, { name });
    }
    const state = { dueAt: Number(row.dueAt), failures: row.failures };
    this.known.set(name, state);
    return state;
  }

  private fail(error: unknown): void {
    if (!this.isFailing)
      this.logger.error('The database refuses what jobs need; they run when it is back', error);
    this.isFailing = true;
  }

  private recover(): void {
    if (this.isFailing) this.logger.log('Jobs run again');
    this.isFailing = false;
  }
}

import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { Clock } from '../../core/time/clock.js';
import { Settings } from '../../core/config/settings.js';
import { OneAtATime } from '../../database/one-at-a-time.js';
import { Transactions } from '../../database/transactions.js';
import { JOB, type JobOptions } from './job.decorator.js';
import { JobMetrics, type JobOutcome } from './job-metrics.js';
import { dueAfter, isDue, retryDelay } from './job-schedule.js';
import { type DueState, JobStates } from './job-states.js';
import { Leases } from './leases.js';
import { type ProviderMethod, providerMethods } from './provider-methods.js';
import { Running } from './running.js';

/**
 * Longest time until due jobs are looked for again, in milliseconds: one that another process was to run, and that it has left
 * due, and a clock that was set.
 */
const LONGEST_SLEEP_MS = 1_000;

/**
 * Runs the background jobs that `@Job()` declares: one process among all on the database, one run of a job at a time. Runs that
 * were missed are one run. A job that is new to the database is first due one period after the start. Nothing runs by itself before
 * `begin()`, which main calls: the command line starts no job, and a test runs those that it wants.
 */
@Injectable()
export class Jobs implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Jobs');
  private readonly jobs = new Map<string, ProviderMethod<JobOptions>>();
  private readonly running = new Running();
  private readonly looks = new OneAtATime(() => this.look());
  private timer: NodeJS.Timeout | undefined;
  /** Whether jobs run by themselves. */
  private isServing = false;
  /** Whether the database refused what jobs need; the log is told when that begins and when it ends. */
  private isFailing = false;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly transactions: Transactions,
    private readonly states: JobStates,
    private readonly leases: Leases,
    private readonly metrics: JobMetrics,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  onApplicationBootstrap(): void {
    for (const job of providerMethods<JobOptions>(this.discovery, this.scanner, JOB)) {
      const { name } = job.declared;
      const other = this.jobs.get(name);
      if (other) throw new Error(`Job "${name}" is declared twice: by ${other.source} and ${job.source}.`);
      this.jobs.set(name, job);
      this.metrics.show(name);
    }
  }

  async onModuleDestroy(): Promise<void> {
    await this.stop();
  }

  /** Runs jobs from now on when they are due. */
  begin(): void {
    if (this.jobs.size === 0 || this.running.isStopping) return;
    this.isServing = true;
    void this.looks.run();
  }

  /** Starts no job any more; waits for those that run, at most SHUTDOWN_TIMEOUT_MS, then aborts them. */
  async stop(): Promise<void> {
    this.isServing = false;
    clearTimeout(this.timer);
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

  /** Begins the jobs that are due, and sleeps until the next is. Never rejects. */
  private async look(): Promise<void> {
    await Promise.all([...this.jobs.values()].map((job) => this.beginIfDue(job)));
    this.sleep();
  }

  private async beginIfDue(job: ProviderMethod<JobOptions>): Promise<void> {
    const { name } = job.declared;
    try {
      if (this.running.has(name) || !(await this.states.isDue(job.declared))) return;
    } catch (error) {
      return this.fail(error);
    }
    this.running
      .run(name, () => this.attempt(job, 'if due'))
      .then(
        (outcome) => outcome && this.recover(outcome),
        (error: unknown) => this.fail(error),
      );
  }

  /** Looks again when the next job is due. Jobs that are overdue are another process's, or the database's fault. */
  private sleep(): void {
    clearTimeout(this.timer);
    if (!this.isServing) return;
    const times = [...this.jobs.values()].map(({ declared }) => this.states.untilDue(declared));
    const next = Math.min(LONGEST_SLEEP_MS, ...times.filter((time) => time !== undefined));
    // The timer alone must not keep the process running.
    this.timer = setTimeout(() => void this.looks.run(), next).unref();
  }

  /** Runs a job, if this process may; undefined when another one runs it, or has run it meanwhile. */
  private async attempt(
    job: ProviderMethod<JobOptions>,
    when: 'now' | 'if due',
  ): Promise<JobOutcome | undefined> {
    const { declared } = job;
    const held = await this.leases.hold(`job/${declared.name}`, async (lost) => {
      const { dueAt, failures } = await this.states.read(declared);
      const begun = this.clock.now();
      if (when === 'if due' && !isDue(declared, dueAt, failures, begun)) return undefined;
      const outcome = await this.carryOut(job, lost);
      await this.conclude(declared, outcome, { dueAt, failures }, begun);
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
    job: JobOptions,
    { is, error }: JobOutcome,
    before: DueState,
    begun: number,
  ): Promise<void> {
    const { name } = job;
    if (is === 'aborted') return this.logger.warn(`Job ${name} was aborted; it is run again`);
    const failures = is === 'failed' ? before.failures + 1 : 0;
    if (failures === 1) this.logger.error(`Job ${name} failed; it is tried again until it succeeds`, error);
    if (failures === 0 && before.failures > 0)
      this.logger.log(`Job ${name} succeeds again, after ${before.failures} failures`);
    const dueAt =
      failures > 0 ? this.clock.now() + retryDelay(job, failures) : dueAfter(job, before.dueAt, begun);
    await this.states.store(job, { dueAt, failures });
  }

  private fail(error: unknown): void {
    // A look that had begun when the service stopped may find the database closed.
    if (!this.isFailing && !this.running.isStopping)
      this.logger.error('The database refuses what jobs need; they run when it is back', error);
    this.isFailing = true;
  }

  private recover({ is }: JobOutcome): void {
    if (this.isFailing) this.logger.log('Jobs run again');
    this.isFailing = false;
    // It may be due before the timer ends, or already.
    if (is !== 'aborted' && this.isServing) void this.looks.run();
  }
}

import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { DataSource, In } from 'typeorm';
import { Clock } from '../../core/time/clock.js';
import { Transactions } from '../../database/transactions/transactions.js';
import type { BackgroundLoop, WorkItem } from './background-loop.js';
import { BackgroundLoops } from './background-loops.js';
import { JOB, type JobOptions } from './job.decorator.js';
import { JobState } from './job.entity.js';
import { JobMetrics, type JobOutcome } from './job-metrics.js';
import { dueAfter, isDue, retryDelay } from './job-schedule.js';
import { Leases } from './leases.js';
import { type ProviderMethod, providerMethods } from './provider-methods.js';

/**
 * Runs the background jobs declared by `@Job()`, each in one process at a time among all that use the database. One run replaces several
 * missed ones. A new job is first due one interval after startup. No job runs automatically before `start()`, which only main calls. The
 * command line starts no jobs, and tests run the jobs that they need.
 */
@Injectable()
export class Jobs implements OnApplicationBootstrap {
  private readonly logger = new Logger('Jobs');
  private readonly jobs = new Map<string, ProviderMethod<JobOptions>>();
  /** The schedule as last read or written by this process; the database is authoritative. */
  private readonly known = new Map<string, JobState>();
  private readonly loop: BackgroundLoop;
  private startedAt = 0;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
    private readonly leases: Leases,
    private readonly metrics: JobMetrics,
    private readonly clock: Clock,
    loops: BackgroundLoops,
  ) {
    this.loop = loops.addLater({
      maxConcurrent: Number.POSITIVE_INFINITY,
      findDue: (inProgress) => this.due(inProgress),
      untilDue: () => this.untilDue(),
      logger: this.logger,
      refused: 'Jobs cannot run until the database has recovered',
      recovered: 'Jobs run again',
    });
  }

  onApplicationBootstrap(): void {
    this.startedAt = this.clock.now();
    for (const job of providerMethods<JobOptions>(this.discovery, this.scanner, JOB)) {
      const { name } = job.declared;
      const other = this.jobs.get(name);
      if (other) throw new Error(`Job "${name}" is declared twice: by ${other.source} and ${job.source}.`);
      this.jobs.set(name, job);
      this.metrics.show(name);
    }
    if (this.jobs.size > 0) this.metrics.showOverdue(() => this.overdue());
  }

  /** Starts running jobs when they are due. */
  start(): void {
    if (this.jobs.size > 0) this.loop.start();
  }

  /** Runs the due jobs and waits for them. Never rejects, because failures are logged. */
  async runDue(): Promise<void> {
    await this.loop.run();
  }

  /**
   * Runs a job now, whether due or not. Throws the error of the job, and an Error if the job does not exist or is running, or if the caller
   * is in a transaction.
   */
  async run(name: string): Promise<void> {
    const job = this.jobs.get(name);
    if (!job) throw new Error(`There is no job "${name}". The jobs are ${[...this.jobs.keys()].join(', ')}.`);
    if (this.transactions.isInside()) throw new Error(`Run job "${name}" outside the transaction.`);
    const outcome = await this.loop.runNow(name, (stopped) => this.attempt(job, 'now', stopped));
    if (!outcome)
      throw new Error(
        `Job "${name}" is running, here or in another process, or the service is shutting down.`,
      );
    if ('error' in outcome) throw outcome.error ?? new Error(`Job "${name}" failed.`);
  }

  private async due(inProgress: ReadonlySet<string>): Promise<WorkItem[]> {
    const items: WorkItem[] = [];
    for (const [key, job] of this.jobs) {
      if (inProgress.has(key)) continue;
      // The database is read only if a job may be due.
      const known = this.known.get(key);
      if (known && !this.isDue(job.declared, known)) continue;
      if (!this.isDue(job.declared, await this.read(job.declared))) continue;
      const run = async (stopped: AbortSignal): Promise<boolean> =>
        (await this.attempt(job, 'if due', stopped)) !== undefined;
      items.push({ key, run });
    }
    return items;
  }

  private async overdue(): Promise<{ labels: { job: string }; value: number }[]> {
    const states = await this.dataSource.manager.findBy(JobState, { name: In([...this.jobs.keys()]) });
    const now = this.clock.now();
    return states.map(({ name, dueAt }) => ({
      labels: { job: name },
      value: Math.max(0, now - Number(dueAt)) / 1_000,
    }));
  }

  private isDue(job: JobOptions, { dueAt, failures }: JobState): boolean {
    return isDue(job, Number(dueAt), failures, this.clock.now());
  }

  /** Milliseconds until the next job is due. An overdue job belongs to another process, or the database has failed. */
  private untilDue(): number {
    const now = this.clock.now();
    const left = [...this.known.values()].map(({ dueAt }) => Number(dueAt) - now);
    return Math.min(...left.filter((ms) => ms > 0));
  }

  /** Runs a job if this process may; undefined if another process runs it or has just run it. */
  private async attempt(
    job: ProviderMethod<JobOptions>,
    when: 'now' | 'if due',
    stopped: AbortSignal,
  ): Promise<JobOutcome | undefined> {
    const { declared } = job;
    const lease = await this.leases.acquire(`job/${declared.name}`);
    if (!lease) return undefined;
    const { signal } = lease.abort;
    // Not AbortSignal.any(), see withTimeout().
    const elapsed = (): void => lease.abort.abort(stopped.reason);
    stopped.addEventListener('abort', elapsed);
    if (stopped.aborted) elapsed();
    try {
      const before = await this.read(declared);
      if (when === 'if due' && !this.isDue(declared, before)) return undefined;
      const startedAt = this.clock.now();
      const outcome = await this.carryOut(job, signal);
      // An aborted job stays due, because its work is not done.
      if (outcome.is === 'aborted') this.logger.warn(`Job ${declared.name} was aborted and will run again`);
      else await this.store(this.after(declared, before, startedAt, outcome));
      return outcome;
    } finally {
      stopped.removeEventListener('abort', elapsed);
      await lease.release();
    }
  }

  private async carryOut(job: ProviderMethod<JobOptions>, signal: AbortSignal): Promise<JobOutcome> {
    const startedAt = this.clock.steady();
    const outcome = await this.transactions.outside(async (): Promise<JobOutcome> => {
      try {
        await job.call(signal);
        return { is: signal.aborted ? 'aborted' : 'succeeded' };
      } catch (error) {
        return { is: signal.aborted ? 'aborted' : 'failed', error };
      }
    });
    this.metrics.count(job.declared.name, outcome, (this.clock.steady() - startedAt) / 1_000);
    return outcome;
  }

  /** When a job is next due after a run that started at this time. */
  private after(job: JobOptions, before: JobState, startedAt: number, { is, error }: JobOutcome): JobState {
    const { name } = job;
    const failures = is === 'failed' ? before.failures + 1 : 0;
    if (failures === 1) this.logger.error(`Job ${name} failed and will be retried until it succeeds`, error);
    if (failures === 0 && before.failures > 0)
      this.logger.log(`Job ${name} succeeded after ${before.failures} failures`);
    const dueAt =
      failures === 0
        ? dueAfter(job, Number(before.dueAt), startedAt)
        : this.clock.now() + retryDelay(job, failures);
    return { name, dueAt: BigInt(dueAt), failures };
  }

  private async read(job: JobOptions): Promise<JobState> {
    const { name } = job;
    const { manager } = this.dataSource;
    let state = await manager.findOneBy(JobState, { name });
    if (!state) {
      const first = { name, dueAt: BigInt(dueAfter(job, this.startedAt, this.startedAt)), failures: 0 };
      await this.transactions.uncached((writer) =>
        writer.createQueryBuilder().insert().into(JobState).values(first).orIgnore().execute(),
      );
      state = await manager.findOneByOrFail(JobState, { name });
    }
    this.known.set(name, state);
    return state;
  }

  private async store(state: JobState): Promise<void> {
    // Even if it cannot be stored, the job must not run again immediately.
    this.known.set(state.name, state);
    await this.transactions.uncached((manager) => manager.update(JobState, { name: state.name }, state));
  }
}

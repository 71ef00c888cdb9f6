import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { Clock } from '../../core/time/clock.js';
import { Settings } from '../../core/config/settings.js';
import { Transactions } from '../../database/transactions.js';
import { BackgroundLoop, type Piece } from './background-loop.js';
import { JOB, type JobOptions } from './job.decorator.js';
import { JobMetrics, type JobOutcome } from './job-metrics.js';
import { dueAfter, isDue, retryDelay } from './job-schedule.js';
import { type DueState, JobStates } from './job-states.js';
import { Leases } from './leases.js';
import { type ProviderMethod, providerMethods } from './provider-methods.js';

/**
 * Runs the background jobs that `@Job()` declares: one process among all on the database, one run of a job at a time. Runs that
 * were missed are one run. A job that is new to the database is first due one period after the start. Nothing runs by itself before
 * `begin()`, which main calls: the command line starts no job, and a test runs those that it wants.
 */
@Injectable()
export class Jobs implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Jobs');
  private readonly jobs = new Map<string, ProviderMethod<JobOptions>>();
  private readonly loop: BackgroundLoop;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly transactions: Transactions,
    private readonly states: JobStates,
    private readonly leases: Leases,
    private readonly metrics: JobMetrics,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {
    this.loop = new BackgroundLoop(
      {
        most: Number.POSITIVE_INFINITY,
        due: (inHand) => this.due(inHand),
        untilDue: () => this.untilDue(),
        logger: this.logger,
        refused: 'The database refuses what jobs need; they run when it is back',
        recovered: 'Jobs run again',
      },
      leases,
      transactions,
    );
  }

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
    if (this.jobs.size > 0) this.loop.begin();
  }

  /** Starts no job any more; waits for those that run, at most SHUTDOWN_TIMEOUT_MS, then aborts them. */
  async stop(): Promise<void> {
    await this.loop.stop(this.settings.shutdownTimeoutMs);
  }

  /** Runs the jobs that are due and waits for them. Never rejects: the log tells of failures. */
  async runDue(): Promise<void> {
    await this.loop.run();
  }

  /**
   * Runs a job now, due or not. Throws what the job throws, and an Error when there is no such job, when it is running, or when
   * the caller is in a transaction.
   */
  async run(name: string): Promise<void> {
    const job = this.jobs.get(name);
    if (!job) throw new Error(`There is no job "${name}"; there are: ${[...this.jobs.keys()].join(', ')}.`);
    if (this.transactions.isInside()) throw new Error(`Run job "${name}" outside of the transaction.`);
    const outcome = await this.loop.runNow(name, (stopped) => this.attempt(job, 'now', stopped));
    if (!outcome)
      throw new Error(`Job "${name}" is running, here or in another process, or the service stops.`);
    if (outcome.error !== undefined) throw outcome.error;
  }

  private async due(inHand: ReadonlySet<string>): Promise<Piece[]> {
    const pieces: Piece[] = [];
    for (const [key, job] of this.jobs) {
      if (inHand.has(key) || !(await this.states.isDue(job.declared))) continue;
      const run = async (stopped: AbortSignal): Promise<boolean> =>
        (await this.attempt(job, 'if due', stopped)) !== undefined;
      pieces.push({ key, run });
    }
    return pieces;
  }

  /** Jobs that are overdue are another process's, or the database's fault. */
  private untilDue(): number {
    const times = [...this.jobs.values()].map(({ declared }) => this.states.untilDue(declared));
    return Math.min(...times.filter((time) => time !== undefined));
  }

  /** Runs a job, if this process may; undefined when another one runs it, or has run it meanwhile. */
  private async attempt(
    job: ProviderMethod<JobOptions>,
    when: 'now' | 'if due',
    stopped: AbortSignal,
  ): Promise<JobOutcome | undefined> {
    const { declared } = job;
    const lease = await this.leases.take(`job/${declared.name}`);
    if (!lease) return undefined;
    try {
      const { dueAt, failures } = await this.states.read(declared);
      const begun = this.clock.now();
      if (when === 'if due' && !isDue(declared, dueAt, failures, begun)) return undefined;
      const outcome = await this.carryOut(job, AbortSignal.any([lease.abort.signal, stopped]));
      await this.conclude(declared, outcome, { dueAt, failures }, begun);
      return outcome;
    } finally {
      await lease.release();
    }
  }

  private async carryOut(job: ProviderMethod<JobOptions>, signal: AbortSignal): Promise<JobOutcome> {
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
}

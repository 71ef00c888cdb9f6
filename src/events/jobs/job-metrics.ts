import { Injectable } from '@nestjs/common';
import type { Counter, Gauge, Histogram } from 'prom-client';
import { Clock } from '../../core/time/clock.js';
import { Metrics } from '../../core/metrics/metrics.js';
import type { LabeledValue } from '../../core/metrics/tally.js';

/** How a run of a job ended. */
export interface JobOutcome {
  /** `aborted` if its signal was aborted before it ended. */
  readonly is: 'succeeded' | 'failed' | 'aborted';
  /** What it threw. */
  readonly error?: unknown;
}

/** Metrics of the jobs run by this process. */
@Injectable()
export class JobMetrics {
  private readonly runs: Counter<'job' | 'outcome'>;
  private readonly durations: Histogram<'job'>;
  private readonly lastSuccess: Gauge<'job'>;

  constructor(
    private readonly metrics: Metrics,
    private readonly clock: Clock,
  ) {
    this.runs = metrics.counter('petstore_job_runs_total', 'Runs of background jobs.', ['job', 'outcome']);
    this.durations = metrics.histogram(
      'petstore_job_duration_seconds',
      'Duration of the runs of background jobs, in seconds.',
      ['job'],
      [0.01, 0.1, 1, 10, 60, 600],
    );
    this.lastSuccess = metrics.gauge(
      'petstore_job_last_success_timestamp_seconds',
      'Time at which a job last succeeded in this process, in seconds since the Unix epoch.',
      ['job'],
    );
  }

  /**
   * Exports how long jobs have been overdue, as `read` finds them in the database, including jobs that never end or that no process runs.
   */
  showOverdue(read: () => Promise<readonly LabeledValue<'job'>[]>): void {
    this.metrics.gauge(
      'petstore_job_overdue_seconds',
      'How long a job has been due, including its current run; 0 if it is not due. Every process exports the same value.',
      ['job'],
      read,
    );
  }

  /** Includes a job that has not run yet in the counters, because an increase needs a sample before the first failure. */
  show(job: string): void {
    for (const outcome of ['succeeded', 'failed', 'aborted']) this.runs.inc({ job, outcome }, 0);
  }

  /** Counts a run that took this many seconds. */
  count(job: string, { is }: JobOutcome, seconds: number): void {
    this.runs.inc({ job, outcome: is });
    this.durations.observe({ job }, seconds);
    if (is === 'succeeded') this.lastSuccess.set({ job }, this.clock.now() / 1_000);
  }
}

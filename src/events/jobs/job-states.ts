import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../../core/time/clock.js';
import { CacheNeutralWrites } from '../../database/cache-neutral-writes.js';
import type { JobOptions } from './job.decorator.js';
import { dueAfter, isDue } from './job-schedule.js';
import { JobState } from './job.entity.js';

/** When a job is due, in ms since the Unix epoch, and how many runs have failed since the last that succeeded. */
export interface DueState {
  readonly dueAt: number;
  readonly failures: number;
}

/** When jobs are due: in the database, which has the last word, and as far as this process has read it. */
@Injectable()
export class JobStates implements OnApplicationBootstrap {
  private readonly known = new Map<string, DueState>();
  private startedAt = 0;

  constructor(
    private readonly dataSource: DataSource,
    private readonly writes: CacheNeutralWrites,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.startedAt = this.clock.now();
  }

  /** Whether a job is due. Reads the database when it may be. */
  async isDue(job: JobOptions): Promise<boolean> {
    const known = this.known.get(job.name);
    const now = this.clock.now();
    if (known && !isDue(job, known.dueAt, known.failures, now)) return false;
    const { dueAt, failures } = await this.read(job);
    return isDue(job, dueAt, failures, this.clock.now());
  }

  /** Milliseconds until a job is due, as far as it is known; undefined when it is not, or when that has passed. */
  untilDue({ name }: JobOptions): number | undefined {
    const known = this.known.get(name);
    const left = known && known.dueAt - this.clock.now();
    return left !== undefined && left > 0 ? left : undefined;
  }

  /** What the database knows of a job; one that is new to it is due one period after the start. */
  async read(job: JobOptions): Promise<DueState> {
    const { name } = job;
    let row = await this.dataSource.manager.findOneBy(JobState, { name });
    if (!row) {
      const values = { name, dueAt: BigInt(dueAfter(job, this.startedAt, this.startedAt)), failures: 0 };
      await this.writes.run((manager) =>
        manager.createQueryBuilder().insert().into(JobState).values(values).orIgnore().execute(),
      );
      row = await this.dataSource.manager.findOneByOrFail(JobState, { name });
    }
    const state = { dueAt: Number(row.dueAt), failures: row.failures };
    this.known.set(name, state);
    return state;
  }

  /** Stores when a job is due next. */
  async store({ name }: JobOptions, state: DueState): Promise<void> {
    // Also when it cannot be stored: it must not run again at once.
    this.known.set(name, state);
    const { dueAt, failures } = state;
    await this.writes.run((manager) =>
      manager.update(JobState, { name }, { dueAt: BigInt(dueAt), failures }),
    );
  }
}

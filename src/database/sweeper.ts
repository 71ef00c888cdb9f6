import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityTarget, type ObjectLiteral } from 'typeorm';
import { Clock } from '../core/time/clock.js';
import { Settings } from '../core/config/settings.js';
import { ApiError } from '../core/errors/api-error.js';
import { quoted, tableOf } from './dialect.js';
import { OneAtATime } from './one-at-a-time.js';
import { Transactions } from './transactions/transactions.js';

/** Delay of the first sweep, in milliseconds, because a machine's clock may be set only after startup. */
const FIRST_MS = 60_000;
/** Interval between sweeps, in milliseconds. */
const PERIOD_MS = 3_600_000;
/** Rows per transaction: few enough that no request waits noticeably and the write-ahead log stays small. */
const BATCH = 500;
/** Pause for other writers between two transactions, in milliseconds. */
const PAUSE_MS = 10;

/** Selects the expired rows of one table. */
export interface Sweep {
  readonly entity: EntityTarget<ObjectLiteral>;
  /** The condition in SQL that works on every database; `:name` is a parameter. */
  readonly where: string;
  /** `now` is in ms since the Unix epoch; retention periods are in the settings. */
  parameters(now: number, settings: Settings): ObjectLiteral;
  /** New values instead of deletion; the condition must no longer hold for them. */
  set?(now: number): ObjectLiteral;
}

/**
 * Deletes expired rows every hour in small batches, so that startup, shutdown and other writers do not wait for it, and the write-ahead log
 * stays small.
 */
@Injectable()
export class Sweeper implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('Database');
  private readonly sweeps: Sweep[] = [];
  private readonly runs = new OneAtATime(() => this.sweepAll());
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  /** Registers sweeps. Their rows must never be cached, because a sweep does not count as a change. */
  add(...sweeps: readonly Sweep[]): void {
    this.sweeps.push(...sweeps);
  }

  onModuleInit(): void {
    this.schedule(FIRST_MS);
  }

  /** Runs before the database closes; waits for the current transaction only. */
  async onModuleDestroy(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.runs.run();
  }

  /** Runs all sweeps now. Never throws. */
  sweep(): Promise<void> {
    return this.runs.run();
  }

  /** Runs one sweep now, in batches. Rejects if the database refuses. */
  async run(sweep: Sweep): Promise<void> {
    while (!this.stopped && (await this.sweepBatch(sweep))) await pause(PAUSE_MS);
  }

  private schedule(delayMs: number): void {
    this.timer = setTimeout(() => void this.sweepAgain(), delayMs).unref();
  }

  private async sweepAgain(): Promise<void> {
    await this.sweep();
    if (!this.stopped) this.schedule(PERIOD_MS);
  }

  private async sweepAll(): Promise<void> {
    let isOutageLogged = false;
    for (const sweep of this.sweeps) {
      try {
        await this.run(sweep);
      } catch (error) {
        // An outage fails all sweeps and is logged once.
        if (isOutageLogged && error instanceof ApiError) continue;
        isOutageLogged ||= error instanceof ApiError;
        const { tableName } = this.dataSource.getMetadata(sweep.entity);
        this.logger.error(`Old rows of ${tableName} cannot be deleted; retrying in an hour`, error);
      }
    }
  }

  /** Returns whether there may be more. */
  private async sweepBatch({ entity, where, ...sweep }: Sweep): Promise<boolean> {
    const now = this.clock.now();
    const metadata = this.dataSource.getMetadata(entity);
    const key = metadata.primaryColumns.map(({ databaseName }) => quoted(databaseName)).join(', ');
    const parameters = sweep.parameters(now, this.settings);
    const old = this.dataSource.createQueryBuilder(entity, 'old').where(where, parameters);
    // Usually no row has expired, and nothing needs to be committed.
    if (!(await old.getExists())) return false;
    const batch = `(${key}) IN (SELECT ${key} FROM ${tableOf(metadata)} WHERE ${where} LIMIT ${BATCH})`;
    const { affected } = await this.transactions.uncached((manager) => {
      const query = manager.createQueryBuilder();
      const set = sweep.set?.(now);
      const change = set ? query.update(entity).set(set) : query.delete().from(entity);
      return change.where(batch, parameters).execute();
    });
    return affected === BATCH;
  }
}

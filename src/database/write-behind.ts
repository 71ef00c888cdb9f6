import type { Logger, OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ApiError } from '../core/errors/api-error.js';
import { OneAtATime } from './one-at-a-time.js';
import { codeOf } from './postgres/postgres-errors.js';
import type { Transactions } from './transactions/transactions.js';

/** Interval between writes, in milliseconds. A crash loses at most the changes of this time. */
const PERIOD_MS = 1_000;
/** How early a timer may fire, in milliseconds. */
const EARLY_MS = 50;

/** Log messages. */
export interface WriteBehindMessages {
  /** When writes start to fail. */
  readonly failing: string;
  /** When a write succeeds again; nothing is logged without it. */
  readonly recovered?: string;
}

/**
 * Collects changes in memory and writes them every second in the background, one write at a time, and again at shutdown. If a write fails,
 * its changes are kept for the next one and the failure is logged once, unless its cause is already logged, such as an unavailable
 * database. If it is unknown whether a write was committed, PostgreSQL is asked before the next write, so that nothing is counted twice.
 */
export abstract class WriteBehind implements OnModuleInit, OnModuleDestroy {
  private readonly writes = new OneAtATime(() => this.attempt());
  private timer: NodeJS.Timeout | undefined;
  private isFailing = false;
  /** Restores the changes of the last write unless it was committed; rejects while that is unknown. */
  private inDoubt: (() => Promise<void>) | undefined;

  protected constructor(
    private readonly transactions: Transactions,
    protected readonly logger: Logger,
    private readonly messages: WriteBehindMessages,
  ) {}

  /** Starts to write every second. A subclass may return a promise. */
  onModuleInit(): unknown {
    this.schedule();
    return undefined;
  }

  /** Writes the remaining changes, if this was started. Nest calls it before the database closes. */
  async onModuleDestroy(): Promise<void> {
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    await this.flush();
  }

  /** Writes all changes so far; on failure, they are kept for the next write. Never rejects. */
  flush(): Promise<void> {
    return this.writes.run();
  }

  /** Writes the collected changes with `commit`. */
  protected abstract write(): Promise<void>;

  /** Runs writes in one transaction. If it fails, `restore` is called once it is known that nothing was committed. */
  protected async commit(
    writes: (manager: EntityManager) => Promise<void>,
    restore: () => void,
  ): Promise<void> {
    let wasCommitted = () => Promise.resolve(false);
    try {
      await this.transactions.uncached(async (manager) => {
        wasCommitted = await outcomeOf(manager);
        await writes(manager);
      });
    } catch (error) {
      this.inDoubt = async () => {
        if (!(await wasCommitted())) restore();
      };
      await this.settle();
      throw error;
    }
  }

  /** Resolves to false while it is unknown whether the last write was committed. */
  private async settle(): Promise<boolean> {
    try {
      await this.inDoubt?.();
    } catch {
      return false;
    }
    this.inDoubt = undefined;
    return true;
  }

  /**
   * All instances write at the start of a second of their host's clock, because each commit on PostgreSQL invalidates all cached responses,
   * and simultaneous commits do so only once.
   */
  private schedule(): void {
    const wait = PERIOD_MS - ((Date.now() + EARLY_MS) % PERIOD_MS) + EARLY_MS;
    this.timer = setTimeout(() => {
      this.schedule();
      void this.flush();
    }, wait).unref();
  }

  private async attempt(): Promise<void> {
    if (this.inDoubt && !(await this.settle())) return;
    try {
      await this.write();
      if (this.isFailing && this.messages.recovered !== undefined) this.logger.log(this.messages.recovered);
      this.isFailing = false;
    } catch (error) {
      // The outage of the database is already logged, and its end will be.
      if (error instanceof ApiError && error.isLogged) return;
      if (!this.isFailing) this.logger.error(this.messages.failing, error);
      this.isFailing = true;
    }
  }
}

/**
 * Returns a function for the case that this transaction fails: it resolves to whether it was committed, and rejects while that is unknown.
 * A connection to PostgreSQL can be lost during COMMIT.
 */
async function outcomeOf(manager: EntityManager): Promise<() => Promise<boolean>> {
  const { connection } = manager;
  if (connection.options.type !== 'postgres') return () => Promise.resolve(false);
  const [transaction] = await manager.query<{ id: string }[]>('SELECT pg_current_xact_id()::text AS id');
  return async () => {
    const sql = 'SELECT pg_xact_status($1::xid8) AS status';
    const [row] = await connection
      .query<{ status: string | null }[]>(sql, [transaction?.id])
      .catch((error: unknown) => {
        // A standby that took over has not received it.
        if (codeOf(error) === '22023') return [];
        throw error;
      });
    if (row?.status === 'in progress') throw new Error('The commit is under way.');
    return row?.status === 'committed';
  };
}

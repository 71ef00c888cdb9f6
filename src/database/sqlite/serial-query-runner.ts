import { SqliteQueryRunner } from 'typeorm/driver/sqlite/SqliteQueryRunner.js';
import type { SqliteDriver } from 'typeorm/driver/sqlite/SqliteDriver.js';
import { QueryResult } from 'typeorm/query-runner/QueryResult.js';
import type { OwnWrites } from '../committed-state.js';
import { refusalIfBusy } from './busy.js';
import type { ConnectionTurns } from './connection-turns.js';

const DEFERRED_BEGIN = 'BEGIN TRANSACTION';
/** Takes the write lock at once: a transaction that reads first cannot wait for it later (SQLITE_BUSY). */
const IMMEDIATE_BEGIN = 'BEGIN IMMEDIATE TRANSACTION';

/** What certainly changes nothing. */
const READS = /^\s*SELECT\b/;

/**
 * A query runner that holds the connection from the start of a transaction to its end, or for its one query.
 * With it, `dataSource.transaction()`, `save()` and plain repositories are safe side by side on SQLite.
 */
export class SerialQueryRunner extends SqliteQueryRunner {
  private giveBack: (() => void) | undefined;

  constructor(
    driver: SqliteDriver,
    private readonly turns: ConnectionTurns,
    private readonly ownWrites: OwnWrites,
  ) {
    super(driver);
  }

  override async query(sql: string, parameters: unknown[] = [], structured = false): Promise<never> {
    const giveBack = this.giveBack ? undefined : await this.turns.take();
    try {
      // sqlite3 binds a BigInt as NULL; decimal text is stored and compared exactly.
      const bindable = parameters.map((value) => (typeof value === 'bigint' ? value.toString() : value));
      const result: unknown = await super.query(
        sql === DEFERRED_BEGIN ? IMMEDIATE_BEGIN : sql,
        bindable,
        structured,
      );
      return (await this.withExactRowId(result)) as never;
    } catch (error) {
      throw refusalIfBusy(error, (error as { driverError?: { code?: string } }).driverError?.code);
    } finally {
      if (!READS.test(sql)) this.ownWrites.note();
      giveBack?.();
    }
  }

  override async startTransaction(
    isolation?: Parameters<SqliteQueryRunner['startTransaction']>[0],
  ): Promise<void> {
    this.giveBack ??= await this.turns.take();
    try {
      await super.startTransaction(isolation);
    } catch (error) {
      // TypeORM takes the transaction for begun before it is, and the turn would never end.
      if (this.transactionDepth === 0) this.isTransactionActive = false;
      throw error;
    } finally {
      this.endTurnOutsideTransaction();
    }
  }

  override async commitTransaction(): Promise<void> {
    try {
      await super.commitTransaction();
    } finally {
      this.endTurnOutsideTransaction();
    }
  }

  override async rollbackTransaction(): Promise<void> {
    try {
      await super.rollbackTransaction();
    } catch (error) {
      // SQLite has rolled back by itself, as when the disk is full; there is nothing left to undo.
      this.isTransactionActive = false;
      this.transactionDepth = 0;
      throw error;
    } finally {
      this.endTurnOutsideTransaction();
    }
  }

  override async release(): Promise<void> {
    if (this.isTransactionActive) await this.rollbackTransaction();
    await super.release();
  }

  /** After an INSERT, sqlite3 tells the new row's id as a double; one that was rounded is asked for again. */
  private async withExactRowId(result: unknown): Promise<unknown> {
    if (
      !(result instanceof QueryResult) ||
      typeof result.raw !== 'number' ||
      Number.isSafeInteger(result.raw)
    ) {
      return result;
    }
    const [row] = (await super.query('SELECT CAST(last_insert_rowid() AS TEXT) AS id', [])) as unknown as {
      id: string;
    }[];
    result.raw = BigInt(row?.id ?? 0);
    return result;
  }

  private endTurnOutsideTransaction(): void {
    if (this.isTransactionActive) return;
    this.giveBack?.();
    this.giveBack = undefined;
  }
}

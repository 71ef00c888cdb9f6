import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';
import type { PoolClient, QueryConfig, QueryResult } from 'pg';
import { QueryFailedError, QueryRunnerAlreadyReleasedError, type Table, type TableColumn } from 'typeorm';
import { ApiError } from '../../core/errors/api-error.js';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel.js';
import { type JoiningRunner, RunnerTransactions } from '../scopes/runner-transactions.js';
import type { StatementScope } from '../scopes/statement-scope.js';
import type { TransactionHome } from '../scopes/transaction.js';
import { suitColumn } from './columns.js';
import type { PostgresConnection } from './postgres-connection.js';

/** A query runner that takes a connection for each statement, and has one for itself during a transaction. */
export class ScopedPostgresRunner extends PostgresQueryRunner implements JoiningRunner {
  readonly transactions: RunnerTransactions;

  /** `within` is the transaction that it is made for; none by default. */
  constructor(
    driver: PostgresDriver,
    private readonly postgres: PostgresConnection,
    home: TransactionHome,
    within?: StatementScope,
  ) {
    super(driver, 'master');
    const copy = (other: StatementScope) => new ScopedPostgresRunner(driver, postgres, home, other);
    this.transactions = new RunnerTransactions(this, home, copy, within);
  }

  override async query(sql: string, parameters: unknown[] = [], structured = false): Promise<never> {
    if (this.isReleased) throw new QueryRunnerAlreadyReleasedError();
    const { scope, release } = await this.transactions.take();
    try {
      scope.check();
      const runner = new RunnerOn(this.driver, (query) => this.postgres.run(scope, query));
      return (await runner.query(sql, parameters, structured)) as never;
    } catch (error) {
      // A refusal is not an error of the statement, for which TypeORM takes it.
      throw error instanceof QueryFailedError && (error.driverError as unknown) instanceof ApiError
        ? error.driverError
        : error;
    } finally {
      release();
    }
  }

  override createTable(table: Table, ...how: boolean[]): Promise<void> {
    for (const column of table.columns) suitColumn(column);
    return super.createTable(table, ...how);
  }

  override addColumn(table: Table | string, column: TableColumn): Promise<void> {
    suitColumn(column);
    return super.addColumn(table, column);
  }

  override startTransaction(isolation?: IsolationLevel): Promise<void> {
    return this.transactions.begin({ isolation });
  }

  override commitTransaction(): Promise<void> {
    return this.transactions.commit();
  }

  override rollbackTransaction(): Promise<void> {
    return this.transactions.rollback();
  }

  override async release(): Promise<void> {
    await this.transactions.release();
    await super.release();
  }
}

/** TypeORM's runner for one statement, which is run elsewhere. */
class RunnerOn extends PostgresQueryRunner {
  constructor(
    driver: PostgresDriver,
    private readonly run: (query: QueryConfig) => Promise<QueryResult>,
  ) {
    super(driver, 'master');
  }

  override connect(): Promise<PoolClient> {
    const query = (text: string, values: unknown[]) => this.run({ text, values });
    return Promise.resolve({ query } as unknown as PoolClient);
  }
}

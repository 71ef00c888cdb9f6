import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';
import { QueryRunnerAlreadyReleasedError, type Table, type TableColumn } from 'typeorm';
import type { Isolation } from '../scopes/connection-scope.js';
import { type RunnerHome, RunnerScopes, type ScopedQueryRunner } from '../scopes/runner-scopes.js';
import { inStatementSpan } from '../statement-span.js';
import type { PostgresConnection } from './postgres-connection.js';
import { isText } from './text-columns.js';

/** A query runner that takes a connection for each statement, and has one for itself during a transaction. */
export class ScopedPostgresRunner extends PostgresQueryRunner implements ScopedQueryRunner {
  readonly scopes: RunnerScopes;

  /** `home` is where it runs what is in no transaction of its own. */
  constructor(
    driver: PostgresDriver,
    private readonly postgres: PostgresConnection,
    home: RunnerHome,
  ) {
    super(driver, 'master');
    this.scopes = new RunnerScopes(this, home, (other) => new ScopedPostgresRunner(driver, postgres, other));
  }

  override async query(sql: string, parameters: unknown[] = [], structured = false): Promise<never> {
    return inStatementSpan(this.connection, sql, () => this.inTurn(sql, parameters, structured));
  }

  private async inTurn(sql: string, parameters: unknown[], structured: boolean): Promise<never> {
    if (this.isReleased) throw new QueryRunnerAlreadyReleasedError();
    const { scope, giveBack } = await this.scopes.take();
    try {
      return (await this.postgres.run(scope, sql, parameters, structured)) as never;
    } finally {
      giveBack();
    }
  }

  override createTable(table: Table, ...how: boolean[]): Promise<void> {
    for (const column of table.columns) suit(column);
    return super.createTable(table, ...how);
  }

  override addColumn(table: Table | string, column: TableColumn): Promise<void> {
    suit(column);
    return super.addColumn(table, column);
  }

  override startTransaction(isolation?: Isolation): Promise<void> {
    return this.scopes.begin(isolation);
  }

  override commitTransaction(): Promise<void> {
    return this.scopes.commit();
  }

  override rollbackTransaction(): Promise<void> {
    return this.scopes.rollback();
  }

  override async release(): Promise<void> {
    await this.scopes.release();
    await super.release();
  }
}

/**
 * Gives a column of a migration that is written for both databases what it needs here: a key that is numbered holds an int64, as
 * SQLite's `integer` does, and text is compared and ordered by bytes.
 */
function suit(column: TableColumn): void {
  if (column.isGenerated && column.generationStrategy === 'increment' && column.type === 'integer')
    column.type = 'bigint';
  if (isText(column.type)) column.collation ??= 'C';
}

import { QueryRunnerAlreadyReleasedError, type Table, type TableColumn } from 'typeorm';
import { Query } from 'typeorm/driver/Query.js';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel.js';
import { SqliteQueryRunner } from 'typeorm/driver/sqlite/SqliteQueryRunner.js';
import type { SqliteDriver } from 'typeorm/driver/sqlite/SqliteDriver.js';
import type { QueryResult } from 'typeorm/query-runner/QueryResult.js';
import { commandOf, onlyReads } from '../statements.js';
import { type JoiningRunner, RunnerTransactions } from '../transactions/runner-transactions.js';
import type { TransactionHome } from '../transactions/outermost-transaction.js';
import type { SqliteWriter, WritingSession } from './sqlite-writer.js';

/** A query runner whose queries and transactions each wait until the connection is free. */
export class SerialQueryRunner extends SqliteQueryRunner implements JoiningRunner {
  readonly transactions: RunnerTransactions;

  constructor(
    driver: SqliteDriver,
    private readonly writer: SqliteWriter,
    home: TransactionHome,
  ) {
    super(driver);
    this.transactions = new RunnerTransactions(this, home);
  }

  override connect(): Promise<unknown> {
    return Promise.resolve(this.writer.connection.driver);
  }

  override async query(sql: string, parameters: unknown[] = [], isStructured = false): Promise<never> {
    if (this.isReleased) throw new QueryRunnerAlreadyReleasedError();
    const statement = async () =>
      resultOf(sql, (await super.query(sql, parameters, true)) as QueryResult, isStructured);
    return (await this.transactions.statement(
      onlyReads(sql),
      (session) => (session as WritingSession).run(sql, statement),
      async () => {
        const { reads } = this.writer;
        const read = reads.accepts(sql) && (await reads.query(sql, parameters, isStructured));
        return read ? read.result : this.writer.run(sql, statement);
      },
    )) as never;
  }

  /** TypeORM would copy the whole table for each new column; SQLite can add one that is nullable or has a default. */
  override async addColumn(tableOrName: Table | string, column: TableColumn): Promise<void> {
    const isSimple = column.isNullable || column.default !== undefined;
    if (!isSimple || column.isUnique || column.isPrimary || column.isGenerated || column.asExpression)
      return super.addColumn(tableOrName, column);
    const table = typeof tableOrName === 'string' ? await this.getCachedTable(tableOrName) : tableOrName;
    const change = `ALTER TABLE ${this.escapePath(table)}`;
    await this.executeQueries(
      new Query(`${change} ADD COLUMN ${this.buildCreateColumnSql(column)}`),
      new Query(`${change} DROP COLUMN "${column.name}"`),
    );
    table.addColumn(column);
  }

  override startTransaction(isolation?: IsolationLevel): Promise<void> {
    return this.transactions.start(isolation);
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
    this.isReleased = true;
  }
}

/** The result of a statement in PostgreSQL's form, which includes the number of rows changed by UPDATE and DELETE. */
function resultOf(sql: string, result: QueryResult, isStructured: boolean): unknown {
  const command = commandOf(sql);
  if (command === 'INSERT' || command === 'REPLACE') result.raw = result.records;
  if (command === 'UPDATE' || command === 'DELETE') {
    result.affected ??= result.records.length;
    result.raw = [result.records, result.affected];
  }
  return isStructured ? result : (result.raw as unknown);
}

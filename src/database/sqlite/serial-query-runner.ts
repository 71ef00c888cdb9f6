import { type Table, type TableColumn, TypeORMError } from 'typeorm';
import { Query } from 'typeorm/driver/Query.js';
import { SqliteQueryRunner } from 'typeorm/driver/sqlite/SqliteQueryRunner.js';
import type { SqliteDriver } from 'typeorm/driver/sqlite/SqliteDriver.js';
import { QueryResult } from 'typeorm/query-runner/QueryResult.js';
import { type RunnerHome, RunnerScopes, type ScopedQueryRunner } from '../scopes/runner-scopes.js';
import { inStatementSpan } from '../statement-span.js';
import type { SqliteWriter } from './sqlite-writer.js';

/** What SQLite gives without a shared cache: transactions as if they ran one after the other. */
const ISOLATIONS = new Set<string | undefined>([undefined, 'SERIALIZABLE', 'READ UNCOMMITTED']);

/** A query runner that waits for its turn, for each query or for each transaction. */
export class SerialQueryRunner extends SqliteQueryRunner implements ScopedQueryRunner {
  readonly scopes: RunnerScopes;

  /** `home` is where it runs what is in no transaction of its own: the connection, or the transaction that it is made for. */
  constructor(
    driver: SqliteDriver,
    private readonly writer: SqliteWriter,
    home: RunnerHome,
  ) {
    super(driver);
    this.scopes = new RunnerScopes(this, home, (other) => new SerialQueryRunner(driver, writer, other));
  }

  override connect(): Promise<unknown> {
    return Promise.resolve(this.writer.connection.driver);
  }

  override async query(sql: string, parameters: unknown[] = [], structured = false): Promise<never> {
    return inStatementSpan(this.connection, sql, () => this.inTurn(sql, parameters, structured));
  }

  private async inTurn(sql: string, parameters: unknown[], structured: boolean): Promise<never> {
    // sqlite3 binds a BigInt as NULL; decimal text is stored and compared exactly.
    const bindable = parameters.map((value) => (typeof value === 'bigint' ? value.toString() : value));
    const { reads } = this.writer;
    if (!this.isReleased && reads.takes(sql) && this.scopes.active() === this.writer) {
      const read = await reads.query(sql, bindable, structured);
      if (read) return read.answer as never;
    }
    const { scope, giveBack } = await this.scopes.take();
    try {
      return (await this.writer.run(scope, sql, async () =>
        this.withExactRowId(await super.query(sql, bindable, structured)),
      )) as never;
    } finally {
      giveBack();
    }
  }

  /** TypeORM copies the whole table for each new column; SQLite itself adds one that may be null, or has a default, at once. */
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

  override async startTransaction(
    isolation?: Parameters<SqliteQueryRunner['startTransaction']>[0],
  ): Promise<void> {
    if (!ISOLATIONS.has(isolation)) throw new TypeORMError(`SQLite has no isolation level ${isolation}.`);
    await this.scopes.begin();
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
    this.isReleased = true;
  }

  /** After an INSERT, sqlite3 reports the new row's id as a double; one that was rounded is asked for again, as text. */
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
}

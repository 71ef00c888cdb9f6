import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';
import type { PoolClient, QueryConfig, QueryResult } from 'pg';
import { type ColumnType, QueryFailedError, type Table, type TableColumn, TypeORMError } from 'typeorm';
import { Query } from 'typeorm/driver/Query.js';
import { ApiError } from '../../core/errors/api-error.js';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel.js';
import { quoted } from '../dialect.js';
import { onlyReads } from '../statements.js';
import { type JoiningRunner, RunnerTransactions } from '../transactions/runner-transactions.js';
import type { TransactionHome } from '../transactions/outermost-transaction.js';
import { adaptForPostgres } from './columns.js';
import type { PostgresPool } from './postgres-pool.js';
import type { PostgresSession } from './postgres-session.js';

/** A query runner that acquires a connection for each statement outside of a transaction. */
export class PostgresRunner extends PostgresQueryRunner implements JoiningRunner {
  readonly transactions: RunnerTransactions;

  constructor(
    driver: PostgresDriver,
    private readonly pool: PostgresPool,
    home: TransactionHome,
  ) {
    super(driver, 'master');
    this.transactions = new RunnerTransactions(this, home);
  }

  /** Acquires no connection yet, because its statements and the transaction would wait for another connection while it held one. */
  override connect(): Promise<PoolClient> {
    const query = (statement: string | QueryConfig, values?: unknown[]) => {
      if (typeof statement === 'string') return this.send({ text: statement, values });
      if ('submit' in statement) throw new TypeORMError(NO_STREAM);
      return this.send(statement);
    };
    return Promise.resolve({ query } as unknown as PoolClient);
  }

  override async query(sql: string, parameters?: unknown[], isStructured = false): Promise<never> {
    try {
      return (await super.query(sql, parameters, isStructured)) as never;
    } catch (error) {
      // TypeORM would report the refusal as an error of the statement.
      throw error instanceof QueryFailedError && (error.driverError as unknown) instanceof ApiError
        ? error.driverError
        : error;
    }
  }

  override createTable(table: Table, ...how: boolean[]): Promise<void> {
    for (const column of table.columns) adaptForPostgres(column);
    // Nobody uses the new table yet. This may run in a transaction, which does not allow CREATE INDEX CONCURRENTLY.
    for (const index of table.indices) index.isConcurrent = false;
    return super.createTable(table, ...how);
  }

  override addColumn(table: Table | string, column: TableColumn): Promise<void> {
    adaptForPostgres(column);
    return super.addColumn(table, column);
  }

  /** Converts values to another type or length. TypeORM would drop the column and add it again, empty. */
  override async changeColumn(
    tableOrName: Table | string,
    columnOrName: TableColumn | string,
    changed: TableColumn,
  ): Promise<void> {
    adaptForPostgres(changed);
    changed.type = this.driver.normalizeType({ type: changed.type as ColumnType });
    // Not from TypeORM's cache, which still has the defaults from before earlier migrations.
    const table = typeof tableOrName === 'string' ? await this.getTable(tableOrName) : tableOrName;
    const column = typeof columnOrName === 'string' ? table?.findColumnByName(columnOrName) : columnOrName;
    if (table && column && !changed.generatedType) await this.convertValues(table, column, changed);
    await super.changeColumn(table ?? tableOrName, column ?? columnOrName, changed);
  }

  /** Throws an Error, before it changes the type, if a value would have a different text in the new type. */
  private async convertValues(table: Table, column: TableColumn, changed: TableColumn): Promise<void> {
    const [from, to] = [column, changed].map((one) => this.driver.createFullType(one));
    if (from === to && column.collation === changed.collation) return;
    const [path, name] = [this.escapePath(table), quoted(column.name)];
    const alter = (action: string) => new Query(`ALTER TABLE ${path} ALTER COLUMN ${name} ${action}`);
    const typed = (type: string | undefined, { collation }: TableColumn) =>
      alter(`TYPE ${type}${collation ? ` COLLATE ${quoted(collation)}` : ''} USING ${name}::${type}`);
    // A default of the old type may be invalid for the new one. Dropping it also locks the table until the transaction ends.
    if (!column.isGenerated)
      await this.executeQueries(
        alter('DROP DEFAULT'),
        column.default === undefined ? [] : alter(`SET DEFAULT ${column.default}`),
      );
    const lost = `SELECT 1 FROM ${path} WHERE ${name}::${to}::${from}::text IS DISTINCT FROM ${name}::text LIMIT 1`;
    if (!this.sqlMemoryMode && ((await this.query(lost)) as unknown[]).length > 0)
      throw new Error(`${table.name}.${column.name} has values that ${to} cannot hold. Change them first.`);
    await this.executeQueries(typed(to, changed), typed(from, column));
    const { type, length, precision, scale, isArray, collation } = changed;
    Object.assign(column, { type, length, precision, scale, isArray, collation, default: undefined });
  }

  /** TypeORM would read from a connection held by the runner; this one holds none. SQLite has no streams either. */
  override stream(): Promise<never> {
    throw new TypeORMError(
      'Streams of rows are not supported. Read page by page, for example with keysetPage().',
    );
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
  }

  private send(query: QueryConfig): Promise<QueryResult> {
    const reads = onlyReads(query.text);
    return this.transactions.statement(
      reads,
      (session) => (session as PostgresSession).send(query),
      () =>
        // A "read" that writes through a function is refused with 503 if its commit hangs.
        reads
          ? this.pool.read((connection) => connection.query(query))
          : this.pool.write((connection) => connection.commit(query)),
    );
  }
}

const NO_STREAM =
  'A query runner has no connection for streams, such as those of pg-copy-streams, pg-cursor and pg-query-stream. Connect a pg.Client for them.';

import { TransactionNotStartedError, TypeORMError } from 'typeorm';
import { SqliteQueryRunner } from 'typeorm/driver/sqlite/SqliteQueryRunner.js';
import type { SqliteDriver } from 'typeorm/driver/sqlite/SqliteDriver.js';
import { QueryResult } from 'typeorm/query-runner/QueryResult.js';
import type { AsyncContext } from '../transactions.js';
import type { SqliteConnection } from './sqlite-connection.js';
import { placeOf, takeTurn, type StatementScope } from './statement-scope.js';
import { TransactionScope } from './transaction-scope.js';

/** What SQLite gives without a shared cache: transactions as if they ran one after the other. */
const ISOLATIONS = new Set<string | undefined>([undefined, 'SERIALIZABLE', 'READ UNCOMMITTED']);

/**
 * A query runner that waits for its turn, for each query or for each transaction. A caller within a transaction takes part in
 * it, with this runner or another. So `dataSource.transaction()`, `save()` and plain repositories are safe side by side and
 * within each other on SQLite.
 */
export class SerialQueryRunner extends SqliteQueryRunner {
  /** What its transactions are called in the log. */
  transactionName = (): string => 'A transaction';
  /** The transactions that it has begun, each within the one before. */
  private readonly transactions: TransactionScope[] = [];

  /** `home` is where it runs what is in no transaction of its own: the connection, or the transaction that it is made for. */
  constructor(
    driver: SqliteDriver,
    private readonly sqlite: SqliteConnection,
    private readonly context: AsyncContext<StatementScope>,
    private readonly home: StatementScope = sqlite,
  ) {
    super(driver);
    this.countTransactions();
  }

  /** Whether it has begun a transaction itself that has not ended. */
  get isInOwnTransaction(): boolean {
    return this.transactions.length > 0;
  }

  /** Another runner, within the transaction that this one is in. */
  nested(): SerialQueryRunner {
    const runner = new SerialQueryRunner(this.driver, this.sqlite, this.context, this.own);
    // Its constructor sets the runner's manager.
    this.driver.connection.createEntityManager(runner);
    return runner;
  }

  /** Runs work that takes part in the transaction of this runner. */
  inside<T>(work: () => Promise<T>): Promise<T> {
    return this.context.run(this.own, work);
  }

  override async query(sql: string, parameters: unknown[] = [], structured = false): Promise<never> {
    // sqlite3 binds a BigInt as NULL; decimal text is stored and compared exactly.
    const bindable = parameters.map((value) => (typeof value === 'bigint' ? value.toString() : value));
    const { reads } = this.sqlite;
    if (!this.isReleased && reads.takes(sql) && placeOf(this.own, this.context.current()) === this.sqlite) {
      const read = await reads.query(sql, bindable, structured);
      if (read) return read.answer as never;
    }
    const { scope, giveBack } = await takeTurn(this.own, this.context.current());
    try {
      return (await this.sqlite.run(scope, sql, async () =>
        this.withExactRowId(await super.query(sql, bindable, structured)),
      )) as never;
    } finally {
      giveBack();
    }
  }

  override async startTransaction(
    isolation?: Parameters<SqliteQueryRunner['startTransaction']>[0],
  ): Promise<void> {
    const begunIn = this.context.current();
    if (!ISOLATIONS.has(isolation)) throw new TypeORMError(`SQLite has no isolation level ${isolation}.`);
    await this.broadcaster.broadcast('BeforeTransactionStart');
    const { scope, giveBack } = await takeTurn(this.own, begunIn);
    const transaction = new TransactionScope(this.sqlite, scope, { name: this.transactionName, giveBack });
    await transaction.begin();
    this.transactions.push(transaction);
    this.countTransactions();
    await this.broadcaster.broadcast('AfterTransactionStart');
  }

  override async commitTransaction(): Promise<void> {
    const transaction = this.innermost();
    await this.broadcaster.broadcast('BeforeTransactionCommit');
    try {
      await transaction.commit();
    } finally {
      if (!transaction.isOpen) this.drop(transaction);
    }
    await this.broadcaster.broadcast('AfterTransactionCommit');
  }

  override async rollbackTransaction(): Promise<void> {
    const transaction = this.innermost();
    await this.broadcaster.broadcast('BeforeTransactionRollback');
    try {
      await transaction.rollback();
    } finally {
      this.drop(transaction);
    }
    await this.broadcaster.broadcast('AfterTransactionRollback');
  }

  override async release(): Promise<void> {
    while (this.transactions.length > 0) await this.rollbackTransaction();
    await super.release();
    this.isReleased = true;
  }

  private get own(): StatementScope {
    return this.transactions.at(-1) ?? this.home;
  }

  private innermost(): TransactionScope {
    const transaction = this.transactions.at(-1);
    if (!transaction) throw new TransactionNotStartedError();
    return transaction;
  }

  private drop(transaction: TransactionScope): void {
    const at = this.transactions.indexOf(transaction);
    if (at >= 0) this.transactions.splice(at, 1);
    this.countTransactions();
  }

  private countTransactions(): void {
    this.transactionDepth = this.transactions.length;
    this.isTransactionActive = this.own !== this.sqlite;
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

import { type QueryRunner, TransactionNotStartedError } from 'typeorm';
import type { CachedKind } from '../data-version.js';
import type { AsyncContext } from '../transactions.js';
import type { ConnectionScope, Isolation } from './connection-scope.js';
import { type StatementScope, type Turn, activeScope, takeTurn } from './statement-scope.js';
import { TransactionScope } from './transaction-scope.js';

/** A query runner whose statements and transactions run in scopes. */
export interface ScopedQueryRunner extends QueryRunner {
  readonly scopes: RunnerScopes;
}

/** Where query runners run what is in no transaction of their own. */
export interface RunnerHome {
  readonly connection: ConnectionScope;
  /** Tells which transaction the caller takes part in. */
  readonly context: AsyncContext<StatementScope>;
  /** The transaction that the runner is made for; none by default. */
  readonly within?: StatementScope;
}

/**
 * The transactions that one query runner has begun, each within the one before, and where its statements run: a caller within a
 * transaction takes part in it, with this runner or another. So `dataSource.transaction()`, `save()` and plain repositories are
 * safe side by side and within each other.
 */
export class RunnerScopes {
  /** What its transactions are called in the log. */
  transactionName = (): string => 'A transaction';
  /** Whether its transactions end with their first statement that fails. */
  isAllOrNothing = false;
  private readonly transactions: TransactionScope[] = [];

  /** `copy` makes another runner with another home. */
  constructor(
    private readonly runner: Pick<QueryRunner, 'broadcaster'> & { isTransactionActive: boolean },
    private readonly home: RunnerHome,
    private readonly copy: (home: RunnerHome) => ScopedQueryRunner,
  ) {
    this.count();
  }

  /** Whether the runner has begun a transaction itself that has not ended. */
  get isInOwnTransaction(): boolean {
    return this.transactions.length > 0;
  }

  /** Another runner, within the transaction that this one is in. */
  nested(): ScopedQueryRunner {
    const runner = this.copy({ ...this.home, within: this.own });
    // Its constructor sets the runner's manager.
    runner.connection.createEntityManager(runner);
    return runner;
  }

  /** Runs work that takes part in the transaction of this runner. */
  inside<T>(work: () => Promise<T>): Promise<T> {
    return this.home.context.run(this.own, work);
  }

  /** Where the caller's next statement runs. */
  active(): StatementScope {
    return activeScope(this.own, this.home.context.current());
  }

  /** Waits until the caller's next statement may run. */
  take(): Promise<Turn> {
    return takeTurn(this.own, this.home.context.current());
  }

  /** Begins a transaction: within the one that the caller takes part in, or by itself. */
  async begin(isolation?: Isolation): Promise<void> {
    const begunIn = this.home.context.current();
    await this.runner.broadcaster.broadcast('BeforeTransactionStart');
    const { scope, giveBack } = await takeTurn(this.own, begunIn);
    const { transactionName: name, isAllOrNothing } = this;
    const options = { name, isolation, isAllOrNothing, giveBack };
    const transaction = new TransactionScope(this.home.connection, scope, options);
    await transaction.begin();
    this.transactions.push(transaction);
    this.count();
    await this.runner.broadcaster.broadcast('AfterTransactionStart');
  }

  /** The commit of the innermost transaction changes only these kinds of what is cached. */
  declare(changes: readonly CachedKind[]): void {
    this.innermost().changes = changes;
  }

  /** Commits the innermost transaction. When it throws, roll it back. */
  async commit(): Promise<void> {
    const transaction = this.innermost();
    await this.runner.broadcaster.broadcast('BeforeTransactionCommit');
    try {
      await transaction.commit();
    } finally {
      if (!transaction.isOpen) this.drop(transaction);
    }
    await this.runner.broadcaster.broadcast('AfterTransactionCommit');
  }

  /** Rolls the innermost transaction back. */
  async rollback(): Promise<void> {
    const transaction = this.innermost();
    await this.runner.broadcaster.broadcast('BeforeTransactionRollback');
    try {
      await transaction.rollback();
    } finally {
      this.drop(transaction);
    }
    await this.runner.broadcaster.broadcast('AfterTransactionRollback');
  }

  /** Rolls back whatever is open. */
  async release(): Promise<void> {
    while (this.transactions.length > 0) await this.rollback();
  }

  private get own(): StatementScope {
    return this.transactions.at(-1) ?? this.home.within ?? this.home.connection;
  }

  private innermost(): TransactionScope {
    const transaction = this.transactions.at(-1);
    if (!transaction) throw new TransactionNotStartedError();
    return transaction;
  }

  private drop(transaction: TransactionScope): void {
    const at = this.transactions.indexOf(transaction);
    if (at >= 0) this.transactions.splice(at, 1);
    this.count();
  }

  private count(): void {
    this.runner.isTransactionActive = this.own !== this.home.connection;
  }
}

/** The scopes of a query runner that has any. */
export function scopesOf(runner: QueryRunner | undefined): RunnerScopes | undefined {
  const { scopes } = (runner ?? {}) as Partial<ScopedQueryRunner>;
  return scopes instanceof RunnerScopes ? scopes : undefined;
}

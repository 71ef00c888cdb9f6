import { type EntityManager, type QueryRunner, TransactionNotStartedError } from 'typeorm';
import { type StatementScope, type Turn, takeTurn } from './statement-scope.js';
import { Transaction, type TransactionHome, type TransactionOptions } from './transaction.js';

/** Runs work that takes part in a transaction: whatever repositories and the DataSource do in it, in whichever service. */
export type Inside = <T>(work: () => Promise<T>) => Promise<T>;

/** A query runner whose statements and transactions run in scopes. */
export interface JoiningRunner extends QueryRunner {
  readonly transactions: RunnerTransactions;
}

/**
 * The transactions that one query runner has begun, each within the one before, and where its statements run: a caller within a
 * transaction takes part in it, with this runner or another. So `dataSource.transaction()`, `save()` and plain repositories are
 * safe side by side and within each other.
 */
export class RunnerTransactions {
  private readonly open: Transaction[] = [];

  /** `within` is the transaction that the runner is made for, `copy` makes another such runner. */
  constructor(
    private readonly runner: Pick<QueryRunner, 'broadcaster' | 'manager'> & { isTransactionActive: boolean },
    private readonly home: TransactionHome,
    private readonly copy: (within: StatementScope) => JoiningRunner,
    private readonly within: StatementScope = home.connection,
  ) {
    this.count();
  }

  /** Another runner, within the transaction that this one is in. */
  nested(): JoiningRunner {
    const runner = this.copy(this.own);
    // Its constructor sets the runner's manager.
    runner.connection.createEntityManager(runner);
    return runner;
  }

  /** Where the caller's next statement runs. */
  active(): StatementScope {
    return this.where()();
  }

  /** Waits until the caller's next statement may run. */
  take(): Promise<Turn> {
    return takeTurn(this.where());
  }

  /** Runs work with a transaction that is committed when the work is done, and rolled back when it throws. */
  async run<T>(
    options: TransactionOptions,
    work: (inside: Inside, manager: EntityManager) => Promise<T>,
  ): Promise<T> {
    const inside: Inside = (part) => this.home.context.run(this.own, part);
    try {
      await this.begin(options);
      const result = await work(inside, this.runner.manager);
      await this.commit();
      return result;
    } catch (error) {
      // Within the context: what continues beside the failure must still be known to be a part of it. The first error says more
      // than one of the rollback, which leaves nothing to undo either.
      if (this.open.length > 0) await inside(() => this.rollback()).catch(() => undefined);
      throw error;
    }
  }

  /** Begins a transaction: within the one that the caller takes part in, or by itself. */
  async begin(options: TransactionOptions): Promise<void> {
    const where = this.where();
    await this.runner.broadcaster.broadcast('BeforeTransactionStart');
    const transaction = new Transaction(this.home, where, options);
    if (!options.first) await transaction.begin();
    this.open.push(transaction);
    this.count();
    await this.runner.broadcaster.broadcast('AfterTransactionStart');
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
    while (this.open.length > 0) await this.rollback();
  }

  private get own(): StatementScope {
    return this.open.at(-1) ?? this.within;
  }

  /** Determines where work of the caller runs now, at each call. */
  private where(): () => StatementScope {
    const { own } = this;
    const begunIn = this.home.context.current();
    return () => own.activeFor(begunIn);
  }

  private innermost(): Transaction {
    const transaction = this.open.at(-1);
    if (!transaction) throw new TransactionNotStartedError();
    return transaction;
  }

  private drop(transaction: Transaction): void {
    const at = this.open.indexOf(transaction);
    if (at >= 0) this.open.splice(at, 1);
    this.count();
  }

  private count(): void {
    this.runner.isTransactionActive = this.own !== this.home.connection;
  }
}

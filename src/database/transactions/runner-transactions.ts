import {
  type EntityManager,
  type QueryRunner,
  QueryRunnerAlreadyReleasedError,
  TransactionNotStartedError,
  TypeORMError,
} from 'typeorm';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel.js';
import { calledBy } from './caller.js';
import { OutermostTransaction, type TransactionHome } from './outermost-transaction.js';
import type { Release } from './semaphore.js';
import { Savepoint } from './savepoint.js';
import type { Transaction } from './transaction.js';
import { type TransactionOptions, type TransactionSession, checkIsolation } from './transaction-session.js';

/** Runs work in a transaction, which all repositories and the DataSource join, in whichever service. */
export type Inside = <T>(work: () => Promise<T>) => Promise<T>;

/** A query runner that joins its caller's transaction. */
export interface JoiningRunner extends QueryRunner {
  readonly transactions: RunnerTransactions;
}

/**
 * Tracks the nested transactions started by one query runner, and the transaction that its statements belong to: one of these, or its
 * caller's. Two runners used concurrently in a transaction have a savepoint each, one after the other.
 */
export class RunnerTransactions {
  private readonly started: Transaction[] = [];
  /** The caller's transaction at the time of the call, which the context may have lost since. Nothing may run after its rollback. */
  private readonly calledIn: Transaction | undefined;

  constructor(
    private readonly runner: Pick<QueryRunner, 'broadcaster' | 'manager' | 'isReleased'> & {
      isTransactionActive: boolean;
    },
    private readonly home: TransactionHome,
  ) {
    this.calledIn = home.context.current()?.enter();
  }

  /**
   * Runs a statement `inside` its transaction, once that grants a permit, or `outside` if there is no transaction. A read does not wait for
   * the end of a savepoint that the same work has set with another query runner, but runs in it.
   */
  async statement<T>(
    isRead: boolean,
    inside: (session: TransactionSession) => Promise<T>,
    outside: () => Promise<T>,
  ): Promise<T> {
    const permit = await this.acquire(isRead);
    if (!permit) return outside();
    try {
      return await permit.transaction.run(inside);
    } finally {
      permit.release();
    }
  }

  /** Runs work in a transaction, which is committed afterwards, or rolled back if the work throws. */
  async run<T>(
    options: TransactionOptions,
    work: (inside: Inside, manager: EntityManager) => Promise<T>,
    outer: RunnerTransactions = this,
  ): Promise<T> {
    let inside: Inside = (part) => part();
    try {
      const transaction = await this.begin(options, outer);
      inside = (part) => this.home.context.run(transaction, part);
      const result = await work(inside, this.runner.manager);
      if (this.innermost() !== transaction)
        throw new TypeORMError('A transaction started with startTransaction() has not ended.');
      await this.commit();
      return result;
    } catch (error) {
      // Within the context, so that code that continues after the failure is still recognized as part of it. An error of the rollback is
      // ignored: the first error says more, and nothing is committed either way.
      if (this.started.length > 0) await inside(() => this.rollback()).catch(() => undefined);
      throw error;
    }
  }

  /** Starts a transaction that must be ended with `commit` or `rollback`. */
  async start(isolation?: IsolationLevel): Promise<void> {
    await this.begin({ name: calledBy(), isolation, isManual: true });
  }

  /** Starts a transaction, or a savepoint in the transaction of the caller's next statement. */
  private async begin(options: TransactionOptions, outer: RunnerTransactions = this): Promise<Transaction> {
    if (this.runner.isReleased) throw new QueryRunnerAlreadyReleasedError();
    checkIsolation(options.isolation);
    await this.runner.broadcaster.broadcast('BeforeTransactionStart');
    const permit = await outer.acquire();
    const transaction = permit
      ? await Savepoint.begin(permit.transaction, permit.release, options)
      : new OutermostTransaction(this.home, options);
    this.started.push(transaction);
    this.runner.isTransactionActive = true;
    await this.runner.broadcaster.broadcast('AfterTransactionStart');
    return transaction;
  }

  /** Commits the innermost transaction. If it throws, roll back. */
  async commit(): Promise<void> {
    const transaction = this.innermost();
    await this.runner.broadcaster.broadcast('BeforeTransactionCommit');
    await transaction.commit();
    this.drop(transaction);
    await this.runner.broadcaster.broadcast('AfterTransactionCommit');
  }

  /** Rolls back the innermost transaction. */
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

  /** Rolls back all open transactions. */
  async release(): Promise<void> {
    while (this.started.length > 0) await this.rollback();
  }

  /**
   * Waits for a permit of the transaction that the next statement belongs to. If that transaction ends during the wait, waits for a permit
   * of the next one. Undefined outside of a transaction.
   */
  private async acquire(
    isRead = false,
  ): Promise<{ readonly transaction: Transaction; readonly release: Release } | undefined> {
    const current = (): Transaction | undefined => (isRead ? this.current()?.readTarget : this.current());
    for (let transaction = current(); transaction; transaction = current()) {
      const release = await transaction.acquire();
      let isCurrent = false;
      try {
        isCurrent = current() === transaction;
      } finally {
        if (!isCurrent) release();
      }
      if (isCurrent) return { transaction, release };
    }
    return undefined;
  }

  /**
   * The transaction of the next statement: the last one that this runner has started, if the caller is outside of it; otherwise the
   * caller's.
   */
  private current(): Transaction | undefined {
    this.calledIn?.check();
    const own = this.started.at(-1);
    const inContext = this.home.context.current() ?? this.calledIn;
    const isOutside = own !== undefined && !inContext?.isWithin(own);
    return (isOutside ? own : inContext)?.enter();
  }

  private innermost(): Transaction {
    const transaction = this.started.at(-1);
    if (!transaction) throw new TransactionNotStartedError();
    return transaction;
  }

  private drop(transaction: Transaction): void {
    const at = this.started.indexOf(transaction);
    if (at >= 0) this.started.splice(at, 1);
    this.runner.isTransactionActive = this.started.length > 0;
  }
}

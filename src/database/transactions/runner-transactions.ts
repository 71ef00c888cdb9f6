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

/** Runs work that takes part in a transaction: whatever repositories and the DataSource do in it, in whichever service. */
export type Inside = <T>(work: () => Promise<T>) => Promise<T>;

/** A query runner that takes part in the transaction of its caller. */
export interface JoiningRunner extends QueryRunner {
  readonly transactions: RunnerTransactions;
}

/**
 * The transactions that one query runner has begun, each within the one before, and which of them, or of its caller, its statements
 * are a part of. Two runners that are used side by side in a transaction have a savepoint each, one after the other.
 */
export class RunnerTransactions {
  private readonly begun: Transaction[] = [];
  /** What the caller worked in when it called, which the context may have lost since: what was rolled back must run nothing. */
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
   * Runs a statement in its turn, or `outside` of a transaction. A read waits for no other query runner that the same work has begun a
   * transaction with.
   */
  async statement<T>(
    isRead: boolean,
    inside: (session: TransactionSession) => Promise<T>,
    outside: () => Promise<T>,
  ): Promise<T> {
    const turn = await this.acquire(isRead);
    if (!turn) return outside();
    try {
      return await turn.transaction.run(inside);
    } finally {
      turn.release();
    }
  }

  /** Runs work with a transaction that is committed when the work is done, and rolled back when it throws. */
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
      // Within the context: what continues beside the failure must still be known to be a part of it. The first error says more
      // than one of the rollback, which leaves nothing to undo either.
      if (this.begun.length > 0) await inside(() => this.rollback()).catch(() => undefined);
      throw error;
    }
  }

  /** Begins a transaction that is to be ended by `commit` or `rollback`. */
  async start(isolation?: IsolationLevel): Promise<void> {
    await this.begin({ name: calledBy(), isolation, isManual: true });
  }

  /** Begins a transaction, or a savepoint in that of the caller's next statement. */
  private async begin(options: TransactionOptions, outer: RunnerTransactions = this): Promise<Transaction> {
    if (this.runner.isReleased) throw new QueryRunnerAlreadyReleasedError();
    checkIsolation(options.isolation);
    await this.runner.broadcaster.broadcast('BeforeTransactionStart');
    const turn = await outer.acquire();
    const transaction = turn
      ? await Savepoint.begin(turn.transaction, turn.release, options)
      : new OutermostTransaction(this.home, options);
    this.begun.push(transaction);
    this.runner.isTransactionActive = true;
    await this.runner.broadcaster.broadcast('AfterTransactionStart');
    return transaction;
  }

  /** Commits the innermost transaction. When it throws, roll it back. */
  async commit(): Promise<void> {
    const transaction = this.innermost();
    await this.runner.broadcaster.broadcast('BeforeTransactionCommit');
    await transaction.commit();
    this.drop(transaction);
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
    while (this.begun.length > 0) await this.rollback();
  }

  /** Waits for a turn in the transaction of the next statement, which what was waited for may have ended. Undefined outside of any. */
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
   * The transaction of the next statement: that of the work that calls. Only where this runner has begun one outside of which the work
   * is, it is the last that the runner has begun.
   */
  private current(): Transaction | undefined {
    this.calledIn?.check();
    const own = this.begun.at(-1);
    const inContext = this.home.context.current() ?? this.calledIn;
    const isOutside = own !== undefined && !inContext?.isWithin(own);
    return (isOutside ? own : inContext)?.enter();
  }

  private innermost(): Transaction {
    const transaction = this.begun.at(-1);
    if (!transaction) throw new TransactionNotStartedError();
    return transaction;
  }

  private drop(transaction: Transaction): void {
    const at = this.begun.indexOf(transaction);
    if (at >= 0) this.begun.splice(at, 1);
    this.runner.isTransactionActive = this.begun.length > 0;
  }
}

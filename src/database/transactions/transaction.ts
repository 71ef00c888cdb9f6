import { Logger } from '@nestjs/common';
import { TypeORMError } from 'typeorm';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel.js';
import { Activity } from './activity.js';
import { type Release, Semaphore } from './semaphore.js';
import type { TransactionSession } from './transaction-session.js';

const logger = new Logger('Database');

/** An outermost transaction, or a savepoint in its parent. Its statements and nested savepoints run one at a time. */
export abstract class Transaction {
  /** Number of parents. */
  protected readonly depth: number;
  protected readonly activity: Activity;
  /**
   * Set when it was rolled back because it was idle for too long. Its work does not know that, so further statements fail with this
   * message.
   */
  protected idleMessage: string | undefined;
  private readonly queue: Semaphore;
  private state: 'open' | 'committed' | 'rolled back' = 'open';
  private rollingBack: Promise<void> | undefined;
  /** The open savepoint that a query runner has set in it. */
  private manualSavepoint: Transaction | undefined;
  /** Whether work that started in it has, since it ended, run a statement in its parent. */
  private isContinuedInParent = false;
  private readonly callbacks: (() => void)[] = [];

  protected constructor(protected readonly parent?: Transaction) {
    const activity = parent?.activity ?? new Activity();
    this.depth = parent ? 1 + parent.depth : 0;
    this.activity = activity;
    this.queue = new Semaphore(1, undefined, undefined, () => activity.at);
  }

  /** Its connection. An outermost transaction starts when this is first called. */
  abstract opened(): Promise<TransactionSession>;

  /** Raises the isolation level of a transaction that wraps work that did not request one. Throws if it is too late. */
  abstract isolate(level: IsolationLevel): void;

  /** Commits, or releases the savepoint. */
  protected abstract doCommit(): Promise<void>;
  protected abstract doRollback(): Promise<void>;

  /**
   * Releases its connection or, for a savepoint, the permit of its parent. Called after a commit that succeeded, and after every rollback.
   */
  protected abstract end(): Promise<void>;

  /**
   * The transaction that a call belongs to if its work started in this one: this one while it is open, then its parent. Throws if this one
   * ended without the knowledge of its work, because a parent was rolled back or this one was idle for too long.
   */
  enter(): Transaction | undefined {
    if (this.state === 'open' || this.idleMessage !== undefined) {
      this.check();
      return this;
    }
    this.isContinuedInParent = true;
    return this.parent?.enter();
  }

  /**
   * The transaction in which to run a read that is called in this one: the innermost savepoint that query runners have set in it, if any is
   * open. The read must not wait for the end of that savepoint, because the same work may have to end it.
   */
  get readTarget(): Transaction {
    return this.manualSavepoint?.readTarget ?? this;
  }

  /** Sets the open savepoint that a query runner has set in it; undefined when it ends. */
  setManualSavepoint(savepoint: Transaction | undefined): void {
    this.manualSavepoint = savepoint;
  }

  /** Whether it or a parent was rolled back. */
  get isRolledBack(): boolean {
    return this.state === 'rolled back' || this.parent?.isRolledBack === true;
  }

  /** Throws if it or a parent was rolled back. */
  check(): void {
    if (this.state === 'rolled back')
      throw new TypeORMError(this.idleMessage ?? 'The transaction of this statement has already ended.');
    this.parent?.check();
  }

  isWithin(other: Transaction): boolean {
    return this === other || this.parent?.isWithin(other) === true;
  }

  /**
   * Waits for the permit to run a statement or set a savepoint, and returns the function that releases it. Throws if the transaction was
   * rolled back in the meantime.
   */
  async acquire(): Promise<Release> {
    const release = await this.queue.acquire();
    if (this.isRolledBack) release();
    this.check();
    return release;
  }

  /**
   * Runs a statement; the caller must hold a permit of `acquire()`. Throws if the transaction was rolled back in the meantime, and the
   * statement with it.
   */
  async run<T>(statement: (session: TransactionSession) => Promise<T>): Promise<T> {
    const session = await this.opened();
    this.check();
    this.activity.begin();
    try {
      const result = await statement(session);
      this.check();
      return result;
    } finally {
      this.activity.end();
    }
  }

  /** Calls back once it and its parents are committed, never if one is rolled back. An error of the callback is logged. */
  afterCommit(callback: () => void): void {
    if (this.state === 'open') this.callbacks.push(callback);
    // After a rollback, the callback may refer to data that was rolled back, unless its work has run a statement in the parent since.
    else if (this.state === 'committed' || this.isContinuedInParent) this.callBackInParent(callback);
  }

  /** Waits for its running statements, then commits. If it throws, roll back. */
  async commit(): Promise<void> {
    const release = await this.acquire();
    try {
      await this.doCommit();
      this.state = 'committed';
      await this.end();
    } catch (error) {
      this.state = 'rolled back';
      throw error;
    } finally {
      release();
    }
    for (const callback of this.callbacks) this.callBackInParent(callback);
  }

  /**
   * Waits for the running statement, then rolls back; waiting statements are refused. Throws the database's error; nothing is committed in
   * that case either.
   */
  rollback(): Promise<void> {
    this.state = 'rolled back';
    return (this.rollingBack ??= this.rollBackAndEnd());
  }

  private async rollBackAndEnd(): Promise<void> {
    try {
      await this.doRollback();
    } finally {
      await this.end();
    }
  }

  private callBackInParent(callback: () => void): void {
    if (this.parent) this.parent.afterCommit(callback);
    else callBack(callback);
  }
}

/** Calls back after a commit. An error of the callback does not undo the commit, and is logged. */
export function callBack(callback: () => void): void {
  try {
    callback();
  } catch (error) {
    logger.error('A callback after a commit failed', error);
  }
}

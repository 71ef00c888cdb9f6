import { Logger } from '@nestjs/common';
import { TypeORMError } from 'typeorm';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel.js';
import { Activity } from './activity.js';
import { type Release, Semaphore } from './semaphore.js';
import type { TransactionSession } from './transaction-session.js';

const logger = new Logger('Database');

/**
 * What statements are a part of: an outermost transaction, or a savepoint in its parent. Its statements and the savepoints in it take
 * turns.
 */
export abstract class Transaction {
  /** How many it is within. */
  protected readonly depth: number;
  protected readonly activity: Activity;
  /** Set when it has idled for too long and was rolled back: its work does not know, and is refused. */
  protected idleMessage: string | undefined;
  private readonly queue: Semaphore;
  private state: 'open' | 'committed' | 'rolled back' = 'open';
  private undone: Promise<void> | undefined;
  /** The savepoint of a query runner that has its turn. */
  private manualSavepoint: Transaction | undefined;
  /** Whether work that was begun in it has continued in its parent. */
  private isContinuedInParent = false;
  private readonly callbacks: (() => void)[] = [];

  protected constructor(protected readonly parent?: Transaction) {
    const activity = parent?.activity ?? new Activity();
    this.depth = parent ? 1 + parent.depth : 0;
    this.activity = activity;
    this.queue = new Semaphore(1, undefined, undefined, () => activity.at);
  }

  /** Its connection. An outermost transaction begins when it is first asked for it. */
  abstract opened(): Promise<TransactionSession>;

  /** Has at least this isolation level where it surrounds work that did not ask for a transaction. Throws where that is too late. */
  abstract isolate(level: IsolationLevel): void;

  /** Commits, or undoes, what was done in it. */
  protected abstract save(): Promise<void>;
  protected abstract undo(): Promise<void>;

  /** Gives its connection or its turn back, after either. */
  protected abstract end(): Promise<void>;

  /**
   * The transaction of what is called now by work that was begun in this one: this one while it is open, then that of the parent. Throws
   * where the work does not know of the end: a parent was rolled back first, or this one has idled.
   */
  enter(): Transaction | undefined {
    if (this.state === 'open' || this.idleMessage !== undefined) {
      this.check();
      return this;
    }
    this.isContinuedInParent = true;
    return this.parent?.enter();
  }

  /** Where a read runs that is called in it: within the savepoint of a query runner, which the same work may end only later. */
  get readTarget(): Transaction {
    return this.manualSavepoint?.readTarget ?? this;
  }

  /** Notes that a savepoint of a query runner has its turn, or that none has. */
  setManualSavepoint(savepoint: Transaction | undefined): void {
    this.manualSavepoint = savepoint;
  }

  /** Whether it, or a parent, was rolled back. */
  get isUndone(): boolean {
    return this.state === 'rolled back' || this.parent?.isUndone === true;
  }

  /** Throws where it, or a parent, was rolled back. */
  check(): void {
    if (this.state === 'rolled back')
      throw new TypeORMError(this.idleMessage ?? 'The transaction of this statement has already ended.');
    this.parent?.check();
  }

  /** Whether it is another transaction, or within it. */
  isWithin(other: Transaction): boolean {
    return this === other || this.parent?.isWithin(other) === true;
  }

  /** Waits for a turn, which is to be released. Throws where the transaction was rolled back in the meantime. */
  async acquire(): Promise<Release> {
    const release = await this.queue.acquire();
    if (this.isUndone) release();
    this.check();
    return release;
  }

  /** Runs a statement in a turn. Throws where the transaction was rolled back in the meantime: the statement was undone. */
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

  /** Calls back once it and its parents are committed, never when one is rolled back. An error of the callback is logged. */
  afterCommit(callback: () => void): void {
    if (this.state === 'open') this.callbacks.push(callback);
    // What continues after a rollback, and has run no statement since, may be about what was undone.
    else if (this.state === 'committed' || this.isContinuedInParent) this.callBackInParent(callback);
  }

  /** Commits what was done in it, once what runs in it has ended. When it throws, roll it back. */
  async commit(): Promise<void> {
    const release = await this.acquire();
    try {
      await this.save();
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
   * Undoes what was done in it, once the statement that runs has ended; what waits for its turn gets no further. Throws what the
   * database says, which leaves nothing to undo either.
   */
  rollback(): Promise<void> {
    this.state = 'rolled back';
    return (this.undone ??= this.undoAndEnd());
  }

  private async undoAndEnd(): Promise<void> {
    try {
      await this.undo();
    } finally {
      await this.end();
    }
  }

  private callBackInParent(callback: () => void): void {
    if (this.parent) this.parent.afterCommit(callback);
    else callBack(callback);
  }
}

/** Calls back after a commit, which an error of the callback does not undo: it is logged. */
export function callBack(callback: () => void): void {
  try {
    callback();
  } catch (error) {
    logger.error('A callback after a commit failed', error);
  }
}

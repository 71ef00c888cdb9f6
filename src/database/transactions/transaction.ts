import { Logger } from '@nestjs/common';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel.js';
import type { CachedKind } from '../data-version.js';
import type { AsyncContext } from './async-context.js';
import { type Release, Semaphore } from './semaphore.js';

const logger = new Logger('Database');

/** How a transaction is begun. */
export interface TransactionOptions {
  /** What it is called in the log. */
  readonly name?: () => string;
  /** Its isolation level; that of the database by default. A transaction within another has that one's. */
  readonly isolation?: IsolationLevel | undefined;
  /** Runs before its first statement. If it throws, nothing else runs in the transaction. */
  readonly first?: () => Promise<void>;
  /** The cached kinds that its commit invalidates, if known; otherwise all, if it has written. Its first failing statement ends it. */
  readonly invalidates?: readonly CachedKind[];
}

/** A connection while a transaction has it: statements run on it one after the other, in the order of the calls. */
export interface TransactionSession {
  /** Runs a statement that sets or releases a savepoint. */
  control(sql: string): Promise<unknown>;
  /** Undoes what was done since a savepoint, which is over. */
  undo(savepoint: string): Promise<unknown>;
  /** When it throws, nothing was committed as far as is known. */
  commit(): Promise<unknown>;
  /** Undoes what was done in the transaction. */
  rollback(): Promise<unknown>;
  /** Gives the connection back; to be called once, after the commit or the rollback. */
  release(): void;
}

/** What transactions need of their database. */
export interface TransactionHome {
  /** Finds the transaction that the caller works in. */
  readonly context: AsyncContext<Transaction>;
  /** Begins a transaction on a connection. */
  open(options: TransactionOptions): Promise<TransactionSession>;
}

/** A transaction, or a savepoint in its parent. It begins with its first statement. Its statements and its children take turns. */
export class Transaction {
  private readonly queue = new Semaphore();
  private state: 'open' | 'committed' | 'rolled back' = 'open';
  private session: Promise<TransactionSession> | undefined;
  /** Whether work that was begun in it has continued in its parent. */
  private isOutlived = false;
  private readonly callbacks: (() => void)[] = [];
  /** Ends its turn in the parent. */
  private release: Release | undefined;

  constructor(
    private readonly home: TransactionHome,
    private readonly options: TransactionOptions = {},
    private readonly parent?: Transaction,
  ) {}

  /** Where work that was begun in it continues: in it, or in its parent once it has ended. Throws where a parent was rolled back before it. */
  get active(): Transaction | undefined {
    if (this.state === 'open') {
      this.check();
      return this;
    }
    this.isOutlived = true;
    return this.parent?.active;
  }

  /** Throws where it, or a parent, was rolled back. */
  check(): void {
    if (this.isUndone) throw new Error('The transaction of this statement has already ended.');
  }

  /** Whether it is another transaction, or within it. */
  isWithin(other: Transaction): boolean {
    return this === other || this.parent?.isWithin(other) === true;
  }

  /** Begins a savepoint, in a turn of the parent that ends with it. */
  async beginSavepoint(parent: Transaction, release: Release): Promise<void> {
    this.release = release;
    try {
      this.session = parent.opened();
      await (await this.session).control(`SAVEPOINT ${this.savepoint}`);
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Begins it on a connection, unless it has begun. */
  opened(): Promise<TransactionSession> {
    this.session ??= this.open();
    return this.session;
  }

  /** Waits for a turn, which is to be released. Throws where the transaction was rolled back in the meantime. */
  async take(): Promise<Release> {
    const release = await this.queue.acquire();
    if (this.isUndone) release();
    this.check();
    return release;
  }

  /** Runs a statement in a turn. Throws where the transaction was rolled back in the meantime: the statement was undone. */
  async run<T>(statement: (session: TransactionSession) => Promise<T>): Promise<T> {
    const session = await this.opened();
    this.check();
    const result = await statement(session);
    this.check();
    return result;
  }

  /** Calls back once it and its parents are committed, never when one is rolled back. An error of the callback is logged. */
  afterCommit(callback: () => void): void {
    if (this.state === 'open') this.callbacks.push(callback);
    // Work that continues after the rollback may refer to what was undone, until it has run another statement.
    else if (this.state === 'committed' || this.isOutlived) this.callBackInParent(callback);
  }

  /** Commits what was done in it, once what runs in it has ended. When it throws, roll it back. */
  async commit(): Promise<void> {
    const release = await this.take();
    try {
      const session = await this.session;
      await (this.parent ? session?.control(`RELEASE SAVEPOINT ${this.savepoint}`) : session?.commit());
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
  async rollback(): Promise<void> {
    this.state = 'rolled back';
    try {
      const session = await this.session?.catch(() => undefined);
      // The parent's end has undone it as well.
      if (this.parent?.isUndone) return;
      await (this.parent ? session?.undo(this.savepoint) : session?.rollback());
    } finally {
      await this.end();
    }
  }

  private callBackInParent(callback: () => void): void {
    if (this.parent) this.parent.afterCommit(callback);
    else callBack(callback);
  }

  private get savepoint(): string {
    return `level_${this.depth}`;
  }

  private get depth(): number {
    return this.parent ? 1 + this.parent.depth : 0;
  }

  private get isUndone(): boolean {
    return this.state === 'rolled back' || this.parent?.isUndone === true;
  }

  private async open(): Promise<TransactionSession> {
    const session = await this.home.open(this.options);
    const { first } = this.options;
    if (!first) return session;
    const before = new Transaction(this.home, {}, this);
    before.session = Promise.resolve(session);
    try {
      await this.home.context.run(before, first);
    } catch (error) {
      await session.rollback().finally(() => session.release());
      throw error;
    } finally {
      before.state = 'committed';
    }
    return session;
  }

  private async end(): Promise<void> {
    if (!this.parent) (await this.session?.catch(() => undefined))?.release();
    this.release?.();
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

import type { SqliteConnection } from './sqlite-connection.js';
import { type GiveBack, StatementScope } from './statement-scope.js';
import { watchWriteLock } from './troubles/write-lock.js';

/** Takes the write lock at once: a transaction that reads first cannot wait for it later (SQLITE_BUSY). */
const BEGIN = 'BEGIN IMMEDIATE TRANSACTION';

/** How a transaction is begun. */
export interface TransactionOptions {
  /** What it is called in the log. */
  readonly name: () => string;
  /** The turn in the scope around it, if it was taken already. */
  readonly giveBack?: GiveBack;
  /** What is done in it before its first statement; when that throws, nothing else is done in it. */
  readonly first?: (within: StatementScope) => Promise<void>;
}

/** A transaction on the connection, or a savepoint in another one. It begins with the first turn that is taken in it. */
export class TransactionScope extends StatementScope {
  private beginning: Promise<void> | undefined;
  /** While it has a turn in the scope around it, which is while it is open. */
  private giveBack: GiveBack | undefined;
  private endWatch: (() => void) | undefined;
  private ended: 'committed' | 'rolled back' | undefined;
  private readonly callbacks: (() => void)[] = [];
  private readonly savepoint: string | undefined;

  constructor(
    private readonly connection: SqliteConnection,
    private readonly around: StatementScope,
    private readonly options: TransactionOptions,
  ) {
    super(around);
    this.savepoint = around === connection ? undefined : `level_${depthOf(around)}`;
  }

  /** Whether it has begun and not ended. */
  get isOpen(): boolean {
    return this.giveBack !== undefined;
  }

  override async take(): Promise<GiveBack> {
    const giveBack = await super.take();
    try {
      // A statement that waited until its end must not begin it again.
      if (!this.isLeft) await this.begin();
    } catch (error) {
      giveBack();
      throw error;
    }
    return giveBack;
  }

  /** Begins it, once. */
  begin(): Promise<void> {
    this.beginning ??= this.open();
    return this.beginning;
  }

  override afterCommit(callback: () => void): void {
    if (this.ended === undefined) this.callbacks.push(callback);
    // Work that goes on after the rollback may speak of what was undone, until it has run another statement.
    else if (this.ended === 'committed' || this.hasOutlived) this.around.afterCommit(callback);
  }

  /** Commits what was done in it, once what is still going on in it has ended. When it throws, roll it back. */
  async commit(): Promise<void> {
    if (this.beginning) {
      const giveBack = await this.take();
      try {
        this.check();
        this.leave();
        await this.control(this.savepoint === undefined ? 'COMMIT' : `RELEASE SAVEPOINT ${this.savepoint}`);
        this.end();
      } finally {
        giveBack();
      }
    } else {
      this.leave();
    }
    this.ended = 'committed';
    for (const callback of this.callbacks) this.around.afterCommit(callback);
  }

  /**
   * Undoes what was done in it. What is still going on in it gets no further than the statement that is running. Throws
   * what SQLite says, which leaves nothing to undo either.
   */
  async rollback(): Promise<void> {
    this.leave();
    this.ended = 'rolled back';
    await this.beginning?.catch(() => undefined);
    await this.undo();
  }

  /** After an error like this SQLite may have rolled back by itself: what follows would be committed alone. */
  override fail(error: unknown): void {
    if (this.savepoint === undefined) this.failure ??= error;
    else super.fail(error);
  }

  private async open(): Promise<void> {
    const { giveBack, first, name } = this.options;
    this.giveBack = giveBack ?? (await this.around.take());
    try {
      await this.control(this.savepoint === undefined ? BEGIN : `SAVEPOINT ${this.savepoint}`);
    } catch (error) {
      this.end();
      throw error;
    }
    if (this.savepoint === undefined) this.endWatch = watchWriteLock(name);
    if (first) await this.doFirst(first);
  }

  private async doFirst(first: (within: StatementScope) => Promise<void>): Promise<void> {
    const within = new StatementScope(this);
    try {
      await first(within);
    } catch (error) {
      this.failure ??= error;
      await this.undo();
      throw error;
    } finally {
      within.leave();
    }
  }

  private async undo(): Promise<void> {
    try {
      // Otherwise the end of what it is a part of has undone it as well.
      if (this.isOpen && this.around.fault === undefined)
        await this.control(
          this.savepoint === undefined ? 'ROLLBACK' : `ROLLBACK TO SAVEPOINT ${this.savepoint}`,
        );
    } finally {
      this.end();
    }
  }

  /** Runs what begins or ends it, which is a statement of the scope around it. */
  private control(sql: string): Promise<void> {
    return this.connection.control(this.around, sql);
  }

  private end(): void {
    this.endWatch?.();
    this.giveBack?.();
    this.giveBack = undefined;
  }
}

function depthOf(scope: StatementScope): number {
  return scope.outer ? 1 + depthOf(scope.outer) : 0;
}

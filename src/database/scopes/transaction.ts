import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel.js';
import { type AsyncContext, StatementScope, takeTurn } from './statement-scope.js';
import type { Release } from './semaphore.js';
import type { CachedKind } from '../data-version.js';

/** How a transaction is begun. */
export interface TransactionOptions {
  /** What it is called in the log. */
  readonly name?: () => string;
  /** Its isolation level; that of the database by default. A transaction within another has that one's. */
  readonly isolation?: IsolationLevel | undefined;
  /** With this it begins with its first statement, and this comes before that; when this throws, nothing else is done in it. */
  readonly first?: () => Promise<void>;
  /** The cached kinds that its commit invalidates, if known; otherwise all, if it has written. Its first failing statement ends it. */
  readonly invalidates?: readonly CachedKind[];
}

/** Where statements run that are in no transaction, and what begins and ends transactions. A database extends it. */
export abstract class ConnectionScope extends StatementScope {
  /**
   * Runs BEGIN, COMMIT or ROLLBACK of a transaction, or a statement about its savepoint. When it throws for a COMMIT, nothing was
   * committed as far as is known.
   */
  abstract control(transaction: Transaction, command: string): Promise<void>;

  /** A transaction that has begun, and is within no other, is over, however it ended. */
  abstract ended(transaction: Transaction): void;
}

/** The transactions of one database. */
export interface TransactionHome {
  readonly connection: ConnectionScope;
  /** Finds which transaction the caller takes part in. */
  readonly context: AsyncContext<StatementScope>;
}

/** A transaction on the connection, or a savepoint in another one. It begins with the first turn that is taken in it. */
export class Transaction extends StatementScope {
  private beginning: Promise<void> | undefined;
  /** While it has a turn in the scope around it, which is while it is open. */
  private release: Release | undefined;
  private end: 'committed' | 'rolled back' | undefined;
  private readonly callbacks: (() => void)[] = [];

  /** `where` is the scope that it is to be within when it begins. */
  constructor(
    private readonly home: TransactionHome,
    private readonly where: () => StatementScope,
    readonly options: TransactionOptions,
  ) {
    super(where());
  }

  /** Whether it has begun and not ended. */
  get isOpen(): boolean {
    return this.release !== undefined;
  }

  override async take(): Promise<Release> {
    const release = await super.take();
    try {
      // A statement that waited until its end must not begin it again.
      if (!this.isLeft) await this.begin();
    } catch (error) {
      release();
      throw error;
    }
    return release;
  }

  /** Begins it, once. */
  begin(): Promise<void> {
    this.beginning ??= this.open();
    return this.beginning;
  }

  override afterCommit(callback: () => void): void {
    if (this.end === undefined) this.callbacks.push(callback);
    // Work that continues after the rollback may refer to what was undone, until it has run another statement.
    else if (this.end === 'committed' || this.hasOutlived) super.afterCommit(callback);
  }

  /** Commits what was done in it, once what still runs in it has ended. When it throws, roll it back. */
  async commit(): Promise<void> {
    if (this.beginning) {
      const release = await this.take();
      try {
        this.check();
        this.leave();
        await this.control('COMMIT', 'RELEASE SAVEPOINT');
        this.close();
      } finally {
        release();
      }
    } else {
      this.leave();
    }
    this.end = 'committed';
    for (const callback of this.callbacks) super.afterCommit(callback);
  }

  /**
   * Undoes what was done in it. What still runs in it gets no further than the statement that is running. Throws
   * what the database says, which leaves nothing to undo either.
   */
  async rollback(): Promise<void> {
    this.leave();
    this.end = 'rolled back';
    await this.beginning?.catch(() => undefined);
    await this.undo();
  }

  /** After an error like this the database may have rolled back by itself: what follows would be committed alone. */
  override fail(error: unknown): void {
    if (this.isNested) super.fail(error);
    else this.failure ??= error;
  }

  private get isNested(): boolean {
    return this.around !== this.home.connection;
  }

  private async open(): Promise<void> {
    ({ scope: this.around, release: this.release } = await takeTurn(this.where));
    try {
      await this.control('BEGIN', 'SAVEPOINT');
    } catch (error) {
      this.close();
      throw error;
    }
    const { first } = this.options;
    if (!first) return;
    const within = new StatementScope(this);
    try {
      await this.home.context.run(within, first);
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
      if (this.isOpen && this.around?.fault === undefined)
        await this.control('ROLLBACK', 'ROLLBACK TO SAVEPOINT');
    } finally {
      this.close();
    }
  }

  /** Begins or ends it: by the connection itself, or by a savepoint in the scope around it. */
  private control(outermost: 'BEGIN' | 'COMMIT' | 'ROLLBACK', within: string): Promise<void> {
    const command = this.isNested ? `${within} level_${this.depth}` : outermost;
    return this.home.connection.control(this, command);
  }

  private close(): void {
    if (!this.isNested && this.release) this.home.connection.ended(this);
    this.release?.();
    this.release = undefined;
  }
}

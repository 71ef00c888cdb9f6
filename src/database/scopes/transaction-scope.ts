import type { CachedKind } from '../data-version.js';
import type { ConnectionScope, ConnectedTransaction, TransactionOptions } from './connection-scope.js';
import { type GiveBack, StatementScope } from './statement-scope.js';

/** A transaction on the connection, or a savepoint in another one. It begins with the first turn that is taken in it. */
export class TransactionScope extends StatementScope implements ConnectedTransaction {
  /** What its commit changes of what is cached, where that is known; else everything, if it has written. */
  changes: readonly CachedKind[] | undefined;
  private beginning: Promise<void> | undefined;
  /** While it has a turn in the scope around it, which is while it is open. */
  private giveBack: GiveBack | undefined;
  private ended: 'committed' | 'rolled back' | undefined;
  private readonly callbacks: (() => void)[] = [];
  private readonly savepoint: string | undefined;

  constructor(
    private readonly connection: ConnectionScope,
    readonly around: StatementScope,
    readonly options: TransactionOptions,
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
        await this.control('COMMIT', 'RELEASE SAVEPOINT');
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
   * what the database says, which leaves nothing to undo either.
   */
  async rollback(): Promise<void> {
    this.leave();
    this.ended = 'rolled back';
    await this.beginning?.catch(() => undefined);
    await this.undo();
  }

  /** After an error like this the database may have rolled back by itself: what follows would be committed alone. */
  override fail(error: unknown): void {
    if (this.savepoint === undefined) this.failure ??= error;
    else super.fail(error);
  }

  private async open(): Promise<void> {
    const { giveBack, first } = this.options;
    this.giveBack = giveBack ?? (await this.around.take());
    try {
      await this.control('BEGIN', 'SAVEPOINT');
    } catch (error) {
      this.end();
      throw error;
    }
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
        await this.control('ROLLBACK', 'ROLLBACK TO SAVEPOINT');
    } finally {
      this.end();
    }
  }

  /** Begins or ends it: by the connection itself, or by a statement in the scope around it. */
  private control(outermost: 'BEGIN' | 'COMMIT' | 'ROLLBACK', within: string): Promise<void> {
    const { connection, savepoint } = this;
    if (savepoint !== undefined) return connection.savepoint(this, `${within} ${savepoint}`);
    return outermost === 'BEGIN' ? connection.begin(this) : connection.finish(this, outermost);
  }

  private end(): void {
    if (this.savepoint === undefined && this.giveBack) this.connection.ended(this);
    this.giveBack?.();
    this.giveBack = undefined;
  }
}

function depthOf(scope: StatementScope): number {
  return scope.outer ? 1 + depthOf(scope.outer) : 0;
}

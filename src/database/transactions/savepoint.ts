import type { Release } from './semaphore.js';
import { Transaction } from './transaction.js';
import type { TransactionOptions, TransactionSession } from './transaction-session.js';

/** A transaction within another, by a savepoint. */
export class Savepoint extends Transaction {
  private readonly name = `level_${this.depth}`;

  /** One that was not begun by `begin` must not end. */
  constructor(
    private readonly outer: Transaction,
    private readonly session: TransactionSession,
    private readonly release?: Release,
  ) {
    super(outer);
  }

  /** Sets a savepoint, in a turn of the outer transaction that ends with it. */
  static async begin(
    outer: Transaction,
    release: Release,
    { isolation, isManual }: TransactionOptions,
  ): Promise<Savepoint> {
    try {
      if (isolation) outer.isolate(isolation);
      const savepoint = new Savepoint(outer, await outer.opened(), release);
      await savepoint.session.control(`SAVEPOINT ${savepoint.name}`);
      if (isManual) outer.setManualSavepoint(savepoint);
      return savepoint;
    } catch (error) {
      release();
      throw error;
    }
  }

  opened(): Promise<TransactionSession> {
    return Promise.resolve(this.session);
  }

  /** As in TypeORM, a transaction within another has the isolation level of that one. */
  isolate(): void {}

  protected async save(): Promise<void> {
    await this.session.control(`RELEASE SAVEPOINT ${this.name}`);
  }

  protected async undo(): Promise<void> {
    // The end of the outer transaction has undone it as well.
    if (!this.outer.isUndone) await this.session.undo(this.name);
  }

  protected end(): Promise<void> {
    this.outer.setManualSavepoint(undefined);
    this.release?.();
    return Promise.resolve();
  }
}

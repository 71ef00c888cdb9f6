import type { Release } from './semaphore.js';
import { Transaction } from './transaction.js';
import type { TransactionOptions, TransactionSession } from './transaction-session.js';

/** A nested transaction, implemented by a savepoint. */
export class Savepoint extends Transaction {
  private readonly name = `level_${this.depth}`;

  /** A savepoint must not end unless `begin` has set it. */
  constructor(
    private readonly outer: Transaction,
    private readonly session: TransactionSession,
    private readonly release?: Release,
  ) {
    super(outer);
  }

  /** Sets a savepoint, in a turn of the outer transaction that lasts until its end. */
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

  /** As in TypeORM, a nested transaction has the isolation level of its parent. */
  isolate(): void {}

  protected async doCommit(): Promise<void> {
    await this.session.control(`RELEASE SAVEPOINT ${this.name}`);
  }

  protected async doRollback(): Promise<void> {
    // The end of the outer transaction has undone it as well.
    if (!this.outer.isRolledBack) await this.session.rollbackTo(this.name);
  }

  protected end(): Promise<void> {
    this.outer.setManualSavepoint(undefined);
    this.release?.();
    return Promise.resolve();
  }
}

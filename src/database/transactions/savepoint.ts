import type { Release } from './semaphore.js';
import { Transaction } from './transaction.js';
import type { TransactionOptions, TransactionSession } from './transaction-session.js';

/** A nested transaction, implemented by a savepoint. */
export class Savepoint extends Transaction {
  private readonly name = `level_${this.depth}`;

  /** Only `begin` sets a savepoint in the database. Do not commit or roll back one that was created with the constructor alone. */
  constructor(
    private readonly outer: Transaction,
    private readonly session: TransactionSession,
    private readonly release?: Release,
  ) {
    super(outer);
  }

  /** Sets a savepoint. It holds a permit of the outer transaction, which `release` releases, until it ends. */
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
    // The rollback of the outer transaction includes it.
    if (!this.outer.isRolledBack) await this.session.rollbackTo(this.name);
  }

  protected end(): Promise<void> {
    this.outer.setManualSavepoint(undefined);
    this.release?.();
    return Promise.resolve();
  }
}

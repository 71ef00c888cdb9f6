import type { UnitOfWork } from './unit-of-work.js';

/** What a unit is, and what comes first in it. */
export interface UnitOptions {
  /** What it is called in the log: the operation. */
  readonly name: string;
  /** Is done in its transaction, before anything else; when this throws, nothing else is done in it. */
  readonly first: () => Promise<void>;
}

/** A unit that is one transaction. */
export interface TransactionUnit extends UnitOfWork {
  /** Runs work that takes part in the transaction: repositories and the DataSource, too, without being told. */
  inside<T>(work: () => Promise<T>): Promise<T>;
}

/** The transactions of the database. */
export abstract class Transactions {
  /**
   * Runs work with a unit that is committed when the work is done, and rolled back when it throws. The transaction begins
   * with the first statement, so that whatever comes before keeps no other writer waiting.
   */
  abstract unit<T>(options: UnitOptions, work: (unit: TransactionUnit) => Promise<T>): Promise<T>;

  /** Whether the caller takes part in a transaction that has not ended. */
  abstract isInside(): boolean;

  /** Calls back once the transaction that the caller takes part in is committed, and at once outside of any. */
  abstract afterCommit(callback: () => void): void;

  /** Runs work that takes part in no transaction but its own. */
  abstract outside<T>(work: () => T): T;
}

import { TypeORMError } from 'typeorm';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel.js';
import type { CachedKind } from '../data-version.js';

/** Each is at least as strong as those before it. */
const LEVELS: readonly IsolationLevel[] = [
  'READ UNCOMMITTED',
  'READ COMMITTED',
  'REPEATABLE READ',
  'SERIALIZABLE',
];

/** How a transaction is begun. */
export interface TransactionOptions {
  /** What it is called in the log. */
  readonly name?: () => string;
  /** Its isolation level; that of the database by default. A transaction within another has that one's. */
  readonly isolation?: IsolationLevel | undefined;
  /** It wraps work that did not ask for a transaction; transactions within it still get the isolation level that they ask for. */
  readonly isImplicit?: boolean;
  /** It was started with a query runner; the same work may read with other runners meanwhile. */
  readonly isManual?: boolean;
  /** Runs before its first statement. If it throws, nothing else runs in the transaction. */
  readonly first?: () => Promise<void>;
  /**
   * The cached kinds that its commit invalidates; by default all, if it has written. If set, the first failing statement ends the
   * transaction.
   */
  readonly invalidates?: readonly CachedKind[];
}

/** A connection while a transaction has it: statements run on it one after the other, in the order of the calls. */
export interface TransactionSession {
  /** Runs a statement that sets or releases a savepoint. */
  control(sql: string): Promise<unknown>;
  /** Rolls back to a savepoint and ends it. */
  undo(savepoint: string): Promise<unknown>;
  /** Commits. If it throws, nothing was committed as far as is known. */
  commit(): Promise<unknown>;
  /** Rolls the transaction back. */
  rollback(): Promise<unknown>;
  /** Gives the connection back; to be called once, after the commit or the rollback. */
  release(): void;
}

/** Throws for an isolation level that does not exist. */
export function checkIsolation(level: IsolationLevel | undefined): void {
  if (level && !LEVELS.includes(level)) throw new TypeORMError(`There is no isolation level ${level}.`);
}

/** Whether a level is weaker than another. */
export function isWeaker(level: IsolationLevel, than: IsolationLevel): boolean {
  return LEVELS.indexOf(level) < LEVELS.indexOf(than);
}

import { TypeORMError } from 'typeorm';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel.js';
import type { CachedKind } from '../data-version.js';

/** Isolation levels, from weak to strong. */
const LEVELS: readonly IsolationLevel[] = [
  'READ UNCOMMITTED',
  'READ COMMITTED',
  'REPEATABLE READ',
  'SERIALIZABLE',
];

/** Options of a transaction. */
export interface TransactionOptions {
  /** Its name in the log. */
  readonly name?: () => string;
  /** Its isolation level; by default, the database's. A nested transaction has its parent's. */
  readonly isolation?: IsolationLevel | undefined;
  /** It wraps work that did not request a transaction; nested transactions still get the isolation level that they request. */
  readonly isImplicit?: boolean;
  /** It was started with a query runner; the same work may read with other runners at the same time. */
  readonly isManual?: boolean;
  /** Runs before the first statement. If it throws, nothing else runs in the transaction. */
  readonly first?: () => Promise<void>;
  /**
   * The cached kinds that its commit invalidates; by default all, if it has written. If set, the first failing statement ends the
   * transaction.
   */
  readonly invalidates?: readonly CachedKind[];
}

/** A transaction's connection. Statements run one after the other, in the order of the calls. */
export interface TransactionSession {
  /** Runs a statement that sets or releases a savepoint. */
  control(sql: string): Promise<unknown>;
  /** Rolls back to a savepoint and ends it. */
  rollbackTo(savepoint: string): Promise<unknown>;
  /** Commits. If it throws, nothing was committed as far as known. */
  commit(): Promise<unknown>;
  /** Rolls the transaction back. */
  rollback(): Promise<unknown>;
  /** Releases the connection. Call it once, after the commit or rollback. */
  release(): void;
}

/** Throws for an unknown isolation level. */
export function checkIsolation(level: IsolationLevel | undefined): void {
  if (level && !LEVELS.includes(level)) throw new TypeORMError(`There is no isolation level ${level}.`);
}

/** Whether a level is weaker than another. */
export function isWeaker(level: IsolationLevel, than: IsolationLevel): boolean {
  return LEVELS.indexOf(level) < LEVELS.indexOf(than);
}

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
  /** It surrounds work that did not ask for one, in which transactions still have the isolation level that they ask for. */
  readonly isImplicit?: boolean;
  /** It was begun by a query runner, beside which the same work may read by others. */
  readonly isManual?: boolean;
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

/** Throws for an isolation level that does not exist. */
export function checkIsolation(level: IsolationLevel | undefined): void {
  if (level && !LEVELS.includes(level)) throw new TypeORMError(`There is no isolation level ${level}.`);
}

/** Whether a level is weaker than another. */
export function isWeaker(level: IsolationLevel, than: IsolationLevel): boolean {
  return LEVELS.indexOf(level) < LEVELS.indexOf(than);
}

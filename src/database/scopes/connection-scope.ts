import type { CachedKind } from '../data-version.js';
import { type GiveBack, StatementScope } from './statement-scope.js';

/** Isolation levels of SQL, as TypeORM names them. */
export type Isolation = 'READ UNCOMMITTED' | 'READ COMMITTED' | 'REPEATABLE READ' | 'SERIALIZABLE';

/** How a transaction is begun. */
export interface TransactionOptions {
  /** What it is called in the log. */
  readonly name: () => string;
  /** Its isolation level; that of the database by default. A transaction within another has that one's. */
  readonly isolation?: Isolation | undefined;
  /** It ends with its first statement that fails, so that nothing has to be undone for one alone. */
  readonly isAllOrNothing?: boolean;
  /** The turn in the scope around it, if it was taken already. */
  readonly giveBack?: GiveBack;
  /** What is done in it before its first statement; when that throws, nothing else is done in it. */
  readonly first?: (within: StatementScope) => Promise<void>;
}

/** A transaction, as the connection sees it that begins and ends it. */
export interface ConnectedTransaction extends StatementScope {
  /** What it is within: a transaction, or the connection. */
  readonly around: StatementScope;
  readonly options: TransactionOptions;
  /** What its commit changes of what is cached, where that is known; else everything, if it has written. */
  readonly changes: readonly CachedKind[] | undefined;
}

/** Where statements run that are in no transaction, and what begins and ends transactions. A database extends it. */
export abstract class ConnectionScope extends StatementScope {
  /** Begins a transaction that is within no other. */
  abstract begin(transaction: ConnectedTransaction): Promise<void>;

  /** Commits it, or rolls it back. When it throws, nothing was committed as far as is known. */
  abstract finish(transaction: ConnectedTransaction, how: 'COMMIT' | 'ROLLBACK'): Promise<void>;

  /** Runs a statement that begins or ends a transaction within another. */
  abstract savepoint(transaction: ConnectedTransaction, sql: string): Promise<void>;

  /** A transaction that has begun is over, however it ended. */
  abstract ended(transaction: ConnectedTransaction): void;
}

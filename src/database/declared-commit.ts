import type { DataSource, EntityManager } from 'typeorm';
import type { CommittedState, RememberedKind } from './committed-state.js';
import type { Transactions } from './transactions.js';

/** What a declared commit is made with. */
export interface CommittingDatabase {
  readonly dataSource: DataSource;
  readonly committed: CommittedState;
  readonly transactions: Transactions;
}

/**
 * Runs writes in one transaction whose commit changes only these kinds of what is remembered. They must write something:
 * SQLite commits nothing when every page is left as it was, and the commit that is waited for would be somebody else's.
 * The transaction is never a part of the caller's: await it in none.
 */
export function commitDeclared<T>(
  database: CommittingDatabase,
  changes: readonly RememberedKind[],
  writes: (manager: EntityManager) => Promise<T>,
): Promise<T> {
  return database.transactions.outside(() => commit(database, changes, writes));
}

async function commit<T>(
  { dataSource, committed }: CommittingDatabase,
  changes: readonly RememberedKind[],
  writes: (manager: EntityManager) => Promise<T>,
): Promise<T> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.startTransaction();
    const result = await writes(runner.manager);
    committed.expectCommit(changes);
    await runner.commitTransaction();
    committed.confirmCommit();
    return result;
  } catch (error) {
    // Before the rollback: it frees the lock, and somebody else may commit next.
    committed.withdraw();
    if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
    throw error;
  } finally {
    committed.withdraw();
    await runner.release();
  }
}

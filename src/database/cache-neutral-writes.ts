import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { DataVersion, type CachedKind } from './data-version.js';
import { Transactions } from './transactions.js';

/** What a declared commit is made with. */
export interface CommittingDatabase {
  readonly dataSource: DataSource;
  readonly dataVersion: DataVersion;
  readonly transactions: Transactions;
}

/**
 * Runs writes in one transaction whose commit changes only these kinds of what is cached. They must write something:
 * SQLite commits nothing when every page is left as it was, and the commit that is waited for would be somebody else's.
 * The transaction is never a part of the caller's: await it in none.
 */
export function commitChanging<T>(
  database: CommittingDatabase,
  changes: readonly CachedKind[],
  writes: (manager: EntityManager) => Promise<T>,
): Promise<T> {
  return database.transactions.outside(() => commit(database, changes, writes));
}

async function commit<T>(
  { dataSource, dataVersion }: CommittingDatabase,
  changes: readonly CachedKind[],
  writes: (manager: EntityManager) => Promise<T>,
): Promise<T> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.startTransaction();
    const result = await writes(runner.manager);
    dataVersion.expectCommit(changes);
    await runner.commitTransaction();
    dataVersion.confirmCommit();
    return result;
  } catch (error) {
    // Before the rollback: it frees the lock, and somebody else may commit next.
    dataVersion.withdraw();
    if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
    throw error;
  } finally {
    dataVersion.withdraw();
    await runner.release();
  }
}

/**
 * Writes what is never cached: counters and last uses, every second. Were they taken for changes, what is cached
 * of the catalogue would be void every second.
 */
@Injectable()
export class CacheNeutralWrites {
  constructor(
    readonly dataSource: DataSource,
    readonly dataVersion: DataVersion,
    readonly transactions: Transactions,
  ) {}

  /**
   * Runs writes in one transaction that does not count as a change; repositories take part in it. Await it in no other
   * transaction.
   */
  run<T>(writes: (manager: EntityManager) => Promise<T>): Promise<T> {
    return commitChanging(this, [], async (manager) => {
      const result = await this.transactions.insideOf(manager, () => writes(manager));
      await this.transactions.touch(manager);
      return result;
    });
  }
}

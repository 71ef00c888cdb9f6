import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { DataVersion, type CachedKind } from './data-version.js';
import { scopesOf } from './scopes/runner-scopes.js';
import { Transactions } from './transactions.js';

/** What a declared commit is made with. */
export interface CommittingDatabase {
  readonly dataSource: DataSource;
  readonly dataVersion: DataVersion;
  readonly transactions: Transactions;
}

/**
 * Runs writes in one transaction whose commit changes only these kinds of what is cached. They must write something: when
 * every page is left as it was, SQLite commits nothing, and the next commit of another process would be taken for this one.
 * The transaction is never a part of the caller's; a caller in a transaction that awaits it waits for itself.
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
  const scopes = scopesOf(runner);
  if (scopes) scopes.isAllOrNothing = true;
  try {
    await runner.startTransaction();
    const result = await writes(runner.manager);
    scopes?.declare(changes);
    dataVersion.expectCommit(changes);
    await runner.commitTransaction();
    dataVersion.confirmCommit();
    return result;
  } catch (error) {
    // Before the rollback: that frees the lock, and another process may commit next.
    dataVersion.withdraw();
    if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
    throw error;
  } finally {
    dataVersion.withdraw();
    await runner.release();
  }
}

/**
 * Writes what is never cached: counters and last uses, every second. If they counted as changes, everything that is cached
 * would be invalidated every second.
 */
@Injectable()
export class CacheNeutralWrites {
  constructor(
    readonly dataSource: DataSource,
    readonly dataVersion: DataVersion,
    readonly transactions: Transactions,
  ) {}

  /**
   * Runs writes in one transaction that does not count as a change; repositories take part in it. A caller in another
   * transaction that awaits it waits for itself.
   */
  run<T>(writes: (manager: EntityManager) => Promise<T>): Promise<T> {
    return commitChanging(this, [], async (manager) => {
      const result = await this.transactions.insideOf(manager, async () => {
        // Instances write the same counters in different orders, and would wait for each other.
        await this.transactions.claim('cache-neutral writes');
        return writes(manager);
      });
      await this.transactions.touch(manager);
      return result;
    });
  }
}

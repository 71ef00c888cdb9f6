import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Transactions } from './transactions.js';

/**
 * Writes what is never cached: counters and last uses, every second. If they counted as changes, everything that is cached
 * would be invalidated every second.
 */
@Injectable()
export class CacheNeutralWrites {
  constructor(private readonly transactions: Transactions) {}

  /**
   * Runs writes in one transaction that does not count as a change; repositories take part in it. A caller in another
   * transaction that awaits it waits for itself.
   */
  run<T>(writes: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.transactions.commitChanging([], async (inside, manager) => {
      const result = await inside(async () => {
        // Instances write the same counters in different orders, and would wait for each other.
        await this.transactions.claim('cache-neutral writes');
        return writes(manager);
      });
      await touch(manager);
      return result;
    });
  }
}

/** Writes the user version of the file, which means nothing, so that SQLite commits though no row has changed. */
async function touch(manager: EntityManager): Promise<void> {
  if (manager.connection.options.type !== 'sqlite') return;
  const [row] = await manager.query<{ user_version: number }[]>('PRAGMA user_version');
  await manager.query(`PRAGMA user_version = ${((row?.user_version ?? 0) + 1) % 2 ** 31}`);
}

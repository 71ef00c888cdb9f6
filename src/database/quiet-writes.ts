import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { CommittedState } from './committed-state.js';
import { commitDeclared } from './declared-commit.js';
import { Transactions } from './transactions.js';

/**
 * Writes what is never remembered: counters and last uses, every second. Were they taken for changes, what is remembered
 * of the catalogue would be void every second.
 */
@Injectable()
export class QuietWrites {
  constructor(
    readonly dataSource: DataSource,
    readonly committed: CommittedState,
    readonly transactions: Transactions,
  ) {}

  /** Runs writes in one transaction that does not count as a change. Await it in no other transaction. */
  run<T>(writes: (manager: EntityManager) => Promise<T>): Promise<T> {
    return commitDeclared(this, [], async (manager) => {
      const result = await writes(manager);
      await this.touch(manager);
      return result;
    });
  }

  /** Makes sure that there is something to commit. Nothing else uses the user version. */
  private async touch(manager: EntityManager): Promise<void> {
    if (this.dataSource.options.type !== 'sqlite') return;
    const [row] = await manager.query<{ user_version: number }[]>('PRAGMA user_version');
    await manager.query(`PRAGMA user_version = ${((row?.user_version ?? 0) + 1) % 2 ** 31}`);
  }
}

import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { CommittedState } from './committed-state.js';

/**
 * Writes what is never remembered: counters and last uses, every second. Were they taken for changes, what is remembered
 * of the catalogue would be void every second.
 */
@Injectable()
export class QuietWrites {
  constructor(
    private readonly dataSource: DataSource,
    private readonly committed: CommittedState,
  ) {}

  /** Runs writes in one transaction that does not count as a change. */
  async run<T>(writes: (manager: EntityManager) => Promise<T>): Promise<T> {
    try {
      return await this.dataSource.transaction(async (manager) => {
        const result = await writes(manager);
        await this.touch(manager);
        this.committed.expectQuietCommit();
        return result;
      });
    } finally {
      this.committed.current();
      this.committed.withdraw();
    }
  }

  /**
   * Makes sure that there is something to commit: SQLite commits nothing when every page is left as it was, and the next
   * commit, which is waited for, would be somebody else's. Nothing else uses the user version.
   */
  private async touch(manager: EntityManager): Promise<void> {
    if (this.dataSource.options.type !== 'sqlite') return;
    const [row] = await manager.query<{ user_version: number }[]>('PRAGMA user_version');
    await manager.query(`PRAGMA user_version = ${((row?.user_version ?? 0) + 1) % 2 ** 31}`);
  }
}

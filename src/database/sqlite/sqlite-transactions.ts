import type { EntityManager } from 'typeorm';
import { ScopedTransactions } from '../scopes/scoped-transactions.js';

/** The transactions on one SQLite connection. */
export class SqliteTransactions extends ScopedTransactions {
  claim(): Promise<void> {
    return Promise.resolve();
  }

  tryToClaim(): Promise<boolean> {
    return Promise.resolve(true);
  }

  /** Changes the user version of the file, which has no other use. */
  async touch(manager: EntityManager): Promise<void> {
    const [row] = await manager.query<{ user_version: number }[]>('PRAGMA user_version');
    await manager.query(`PRAGMA user_version = ${((row?.user_version ?? 0) + 1) % 2 ** 31}`);
  }
}

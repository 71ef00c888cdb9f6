import type { DataSource, EntityManager } from 'typeorm';
import type { CachedKind } from '../data-version.js';
import type { Dialect } from '../dialect.js';
import { AsyncContext } from './async-context.js';
import type { Inside, JoiningRunner } from './runner-transactions.js';
import type { TransactionHome } from './outermost-transaction.js';
import { type Transaction, callBack } from './transaction.js';
import type { TransactionOptions } from './transaction-session.js';

/** The database's transactions, which repositories join automatically. */
export class Transactions implements TransactionHome {
  /** Finds which transaction the caller takes part in. */
  readonly context = new AsyncContext<Transaction>();

  constructor(
    private readonly database: DataSource & { readonly dialect: Dialect },
    readonly isolation: TransactionHome['isolation'],
    readonly open: TransactionHome['open'],
    public allowsIdling = false,
  ) {}

  /**
   * Runs work in a transaction, which is committed afterwards, or rolled back if the work throws. Everything that the work runs with
   * `inside` or the manager joins it. It is nested in `outer` or the caller's transaction.
   */
  async run<T>(
    options: TransactionOptions,
    work: (inside: Inside, manager: EntityManager) => Promise<T>,
    outer?: JoiningRunner,
  ): Promise<T> {
    const runner = this.database.createQueryRunner() as JoiningRunner;
    if (outer) runner.data = outer.data;
    try {
      return await runner.transactions.run(options, work, outer?.transactions);
    } finally {
      await runner.release();
    }
  }

  /**
   * Runs writes in a transaction whose commit invalidates only these cached kinds. If any are given, the writes must change something. It
   * is always a separate transaction, so a caller that awaits it within another transaction deadlocks.
   */
  commitChanging<T>(
    invalidates: readonly CachedKind[],
    writes: (inside: Inside, manager: EntityManager) => Promise<T>,
  ): Promise<T> {
    return this.outside(() => this.run({ invalidates }, writes));
  }

  /**
   * Runs writes of data that is never cached, such as counters and last uses, in a transaction that does not count as a change, because
   * they would otherwise invalidate all cached data every second. Repositories join it. A caller that awaits it within another transaction
   * deadlocks.
   */
  uncached<T>(writes: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.commitChanging([], (inside, manager) =>
      inside(async () => {
        // Instances write the same counters in different orders, and would wait for each other.
        await this.lock('cache-neutral writes');
        return writes(manager);
      }),
    );
  }

  /** Whether the caller is in a transaction that has not ended. */
  isInside(): boolean {
    return this.context.current()?.enter() !== undefined;
  }

  /**
   * Calls back once the caller's transaction is committed, or immediately without one; never if it is rolled back. An error of the callback
   * is logged.
   */
  afterCommit(callback: () => void): void {
    const transaction = this.context.current();
    if (transaction) transaction.afterCommit(callback);
    else callBack(callback);
  }

  /** Runs work outside of the caller's transaction. */
  outside<T>(work: () => T): T {
    return this.context.outside(work);
  }

  /**
   * Waits for the advisory lock of a name, which is released when the caller's transaction ends. Data read afterwards does not change until
   * then, provided that everyone who changes it takes the same lock. On SQLite, a transaction has already locked everything.
   */
  async lock(name: string): Promise<void> {
    const { locks } = this.database.dialect;
    if (locks) await this.database.query(locks.lock, [name]);
  }

  /** Takes the lock of a name if it is free; returns whether it did. */
  async tryLock(name: string): Promise<boolean> {
    const { locks } = this.database.dialect;
    if (!locks) return true;
    const [row] = await this.database.query<{ locked: boolean }[]>(locks.tryLock, [name]);
    return row?.locked === true;
  }
}

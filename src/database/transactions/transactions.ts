import type { DataSource, EntityManager } from 'typeorm';
import type { CachedKind } from '../data-version.js';
import type { Dialect } from '../dialect.js';
import { AsyncContext } from './async-context.js';
import type { Inside, JoiningRunner } from './runner-transactions.js';
import type { TransactionHome } from './outermost-transaction.js';
import { type Transaction, callBack } from './transaction.js';
import type { TransactionOptions } from './transaction-session.js';

/** The transactions of the database, in which repositories take part by themselves. */
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
   * Runs work with a transaction that is committed when the work is done, and rolled back when it throws. What the work runs
   * by `inside`, or with the manager, takes part in it. It is within what `outer` or the caller works in.
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
   * Runs writes in one transaction whose commit invalidates only these kinds of what is cached; where it names any, the writes must
   * change something. The transaction is never a part of the caller's; a caller in a transaction that awaits it waits for itself.
   */
  commitChanging<T>(
    invalidates: readonly CachedKind[],
    writes: (inside: Inside, manager: EntityManager) => Promise<T>,
  ): Promise<T> {
    return this.outside(() => this.run({ invalidates }, writes));
  }

  /**
   * Runs writes of what is never cached, such as counters and last uses, in one transaction that does not count as a change: otherwise
   * they would invalidate everything that is cached, every second. Repositories take part in it. A caller in another transaction that
   * awaits it waits for itself.
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

  /** Whether the caller takes part in a transaction that has not ended. */
  isInside(): boolean {
    return this.context.current()?.enter() !== undefined;
  }

  /**
   * Calls back once the transaction that the caller takes part in is committed, and at once outside of any; never when it is
   * rolled back. An error of the callback is logged.
   */
  afterCommit(callback: () => void): void {
    const transaction = this.context.current();
    if (transaction) transaction.afterCommit(callback);
    else callBack(callback);
  }

  /** Runs work that takes part in no transaction but its own. */
  outside<T>(work: () => T): T {
    return this.context.outside(work);
  }

  /**
   * Takes the advisory lock of a name, for which it waits; it is released when the transaction that the caller takes part in ends. So
   * what is read after it stays as it is until then, as far as all who change it take the same lock. SQLite has one writer, whose
   * transaction has locked everything.
   */
  async lock(name: string): Promise<void> {
    const { locks } = this.database.dialect;
    if (locks) await this.database.query(locks.lock, [name]);
  }

  /** Takes the lock of a name if no other transaction has it; returns whether it did. */
  async tryLock(name: string): Promise<boolean> {
    const { locks } = this.database.dialect;
    if (!locks) return true;
    const [row] = await this.database.query<{ locked: boolean }[]>(locks.tryLock, [name]);
    return row?.locked === true;
  }
}

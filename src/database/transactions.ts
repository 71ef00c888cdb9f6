import { AsyncLocalStorage } from 'node:async_hooks';
import type { EntityManager } from 'typeorm';

/** How a transaction is begun, and what comes first in it. */
export interface TransactionStart {
  /** What it is called in the log: the operation. */
  readonly name: string;
  /** Is done in it before its first statement; when this throws, nothing else is done in it. */
  readonly first: () => Promise<void>;
}

/** Runs work that takes part in a transaction: whatever repositories and the DataSource do in it, in whichever service. */
export type Inside = <T>(work: () => Promise<T>) => Promise<T>;

/** The transactions of the database. */
export abstract class Transactions {
  /**
   * Runs work with a transaction that is committed when the work is done, and rolled back when it throws. What the work runs
   * by `inside` takes part in it. The transaction begins with the first statement there, so that whatever comes before keeps
   * no other writer waiting.
   */
  abstract run<T>(start: TransactionStart, work: (inside: Inside) => Promise<T>): Promise<T>;

  /** Runs work that takes part in the transaction that this manager works in. */
  abstract insideOf<T>(manager: EntityManager, work: () => Promise<T>): Promise<T>;

  /** Whether the caller takes part in a transaction that has not ended. */
  abstract isInside(): boolean;

  /**
   * Calls back once the transaction that the caller takes part in is committed, and at once outside of any; never when it is
   * rolled back.
   */
  abstract afterCommit(callback: () => void): void;

  /** Runs work that takes part in no transaction but its own. */
  abstract outside<T>(work: () => T): T;

  /**
   * Waits until no other transaction has claimed this name; the claim ends with the transaction that the caller takes part in. So
   * what is read after it stays as it is until then, as far as all who change it claim the same name. SQLite has one writer, whose
   * transaction has claimed everything.
   */
  abstract claim(name: string): Promise<void>;

  /** Claims a name if no other transaction has claimed it; answers whether it has. */
  abstract tryToClaim(name: string): Promise<boolean>;

  /** Writes something that means nothing, so that a transaction whose writes left every row as it was has a commit to make. */
  abstract touch(manager: EntityManager): Promise<void>;
}

/**
 * A value that travels along with asynchronous work, to everything that the work calls and awaits: it tells which transaction
 * the caller takes part in. While no work runs with a value it is switched off, because on Node.js 20 every promise of the
 * process costs twice as much while it is on.
 */
export class AsyncContext<T extends object> {
  private readonly storage = new AsyncLocalStorage<T | undefined>();
  private working = 0;

  /** The value of the work that calls this; also of work that was begun in it and has outlived it. */
  current(): T | undefined {
    return this.storage.getStore();
  }

  /** Runs work with a value. */
  async run<R>(value: T, work: () => R | Promise<R>): Promise<R> {
    this.working += 1;
    try {
      return await this.storage.run(value, work);
    } finally {
      this.working -= 1;
      if (this.working === 0) this.storage.disable();
    }
  }

  /** Runs work without a value. */
  outside<R>(work: () => R): R {
    return this.current() ? this.storage.run(undefined, work) : work();
  }
}

import { AsyncLocalStorage } from 'node:async_hooks';
import { Logger } from '@nestjs/common';
import { type Release, Semaphore } from './semaphore.js';

const logger = new Logger('Database');

/**
 * A value that follows asynchronous work to everything that it calls and awaits. While no work runs with a value it is
 * switched off, because on Node.js 20 every promise of the process costs twice as much while it is on.
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

/**
 * Where statements run, one after the other: the connection itself, a transaction on it, or a savepoint in one. A
 * transaction has a turn of the scope around it from its begin to its end.
 */
export class StatementScope {
  /** Its statements and transactions, which take turns. */
  readonly turns = new Semaphore();
  /** Why it accepts no more statements, although it has not ended. */
  protected failure: unknown;
  protected isLeft = false;
  /** Whether work that was begun in it has run a statement in the scope around it, because this one had been left. */
  protected hasOutlived = false;

  /** `around` is the scope around it; the connection has none. */
  constructor(public around?: StatementScope) {}

  /** In how many others it is. */
  get depth(): number {
    return this.around ? 1 + this.around.depth : 0;
  }

  /** Waits until a statement may run in it. Throws service_unavailable after 10 s. */
  take(): Promise<Release> {
    return this.turns.acquire();
  }

  /** Ends it for statements that come from now on: they run in the scope around it. */
  leave(): void {
    this.isLeft = true;
  }

  /** Calls back once what was done in it is committed; never when it is not. An error of the callback is logged: the commit stays. */
  afterCommit(callback: () => void): void {
    if (this.around) {
      this.around.afterCommit(callback);
      return;
    }
    try {
      callback();
    } catch (error) {
      logger.error('A callback after a commit failed', error);
    }
  }

  /** Notes that the database could not run a statement in it. */
  fail(error: unknown): void {
    this.around?.fail(error);
  }

  /** Why it accepts no more statements; undefined while it does. */
  get fault(): unknown {
    return this.failure ?? (this.isLeft ? endedBefore() : this.around?.fault);
  }

  /** Throws when it accepts no more statements. */
  check(): void {
    const { fault } = this;
    if (fault !== undefined) throw fault;
  }

  /**
   * Where work that was begun in it runs its statements: here, or around it once it was left. Throws when what it is a part
   * of has ended before it, or has failed.
   */
  active(): StatementScope {
    if (this.isLeft && this.around) {
      this.hasOutlived = true;
      return this.around.active();
    }
    this.check();
    return this;
  }

  /** As `active()`, for work that a runner does whose own scope this is: where it was begun, if that is within this one; else here. */
  activeFor(begunIn: StatementScope | undefined): StatementScope {
    const scope = (begunIn && this.contains(begunIn) ? begunIn : this).active();
    // A runner that has begun a transaction must not continue outside of it.
    if (!this.contains(scope)) throw endedBefore();
    return scope;
  }

  private contains(scope: StatementScope): boolean {
    let one: StatementScope | undefined = scope;
    while (one && one !== this) one = one.around;
    return one === this;
  }
}

/** A turn of one statement, or of one transaction. */
export interface Turn {
  /** Where it is. */
  readonly scope: StatementScope;
  /** Ends it. */
  readonly release: Release;
}

/** Waits for a turn in a scope that is determined again after the wait: the statement that was waited for may have ended it. */
export async function takeTurn(where: () => StatementScope): Promise<Turn> {
  for (;;) {
    const scope = where();
    const release = await scope.take();
    let isThere = false;
    try {
      isThere = where() === scope;
    } finally {
      if (!isThere) release();
    }
    if (isThere) return { scope, release };
  }
}

function endedBefore(): Error {
  return new Error('The transaction of this statement has already ended.');
}

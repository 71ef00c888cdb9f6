import { TransientMap } from '../../core/transient-map.js';
import { unavailable } from '../unavailable.js';

/** Longest wait for a turn, in milliseconds. */
const WAIT_LIMIT_MS = 10_000;

/** Ends a turn. */
export type GiveBack = () => void;

/**
 * Hands the one SQLite connection, or a transaction, to one owner at a time, first come, first served. TypeORM would
 * let transactions that overlap in time share it, so that one's rollback undoes the other's acknowledged write.
 */
export class ConnectionTurns {
  private isTaken = false;
  private readonly waiting = new TransientMap<() => void, true>();

  /** Whether someone has the turn, and how many wait for it. */
  get load(): { readonly isTaken: boolean; readonly waiting: number } {
    return { isTaken: this.isTaken, waiting: this.waiting.size };
  }

  private readonly giveBack: GiveBack = () => {
    const [next] = this.waiting.first() ?? [];
    if (next) next();
    else this.isTaken = false;
  };

  /**
   * Waits for the turn and answers the function that ends it, which is to be called once. Throws service_unavailable after
   * 10 s: its owner keeps the turn for too long, or waits, while having it, for a query that needs it too.
   */
  async take(): Promise<GiveBack> {
    if (this.isTaken) await this.turn();
    else this.isTaken = true;
    return this.giveBack;
  }

  private turn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const next = (): void => {
        this.waiting.delete(next);
        clearTimeout(limit);
        resolve();
      };
      const limit = setTimeout(() => {
        this.waiting.delete(next);
        reject(unavailable('the database is busy', new Error(WAITED)));
      }, WAIT_LIMIT_MS);
      this.waiting.set(next, true);
    });
  }
}

const WAITED =
  `Waited ${WAIT_LIMIT_MS / 1_000} s for the database connection. Either a transaction takes that long, or one that a query ` +
  'runner began waits for a query past that runner’s manager (docs/guides/rows-and-transactions.md).';

/** A turn of one statement, or of one transaction. */
export interface Turn {
  /** Where it is. */
  readonly scope: StatementScope;
  /** Ends it. */
  readonly giveBack: GiveBack;
}

/**
 * Where statements run, one after the other: the connection itself, a transaction on it, or a savepoint in one. A
 * transaction has a turn of the scope around it from its begin to its end.
 */
export class StatementScope {
  /** Why nothing can be done in it any more, although it has not been left. */
  protected failure: unknown;
  private readonly turns = new ConnectionTurns();
  protected isLeft = false;
  /** Whether work that was begun in it has run a statement in the scope around it, because this one had been left. */
  protected hasOutlived = false;

  /** `outer` is the scope around it; the connection has none. */
  constructor(readonly outer?: StatementScope) {}

  /** Whether a statement or a transaction runs in it, and how many wait for that. */
  get load(): { readonly isTaken: boolean; readonly waiting: number } {
    return this.turns.load;
  }

  /** Waits until a statement may run in it. Throws service_unavailable after 10 s. */
  take(): Promise<GiveBack> {
    return this.turns.take();
  }

  /** Ends it for statements that come from now on: they run in the scope around it. */
  leave(): void {
    this.isLeft = true;
  }

  /** Calls back once what was done in it is committed; never when it is not. */
  afterCommit(callback: () => void): void {
    if (this.outer) this.outer.afterCommit(callback);
    else callback();
  }

  /** Notes that the database could not run a statement in it. */
  fail(error: unknown): void {
    this.outer?.fail(error);
  }

  /** Whether it is this scope, or one within it. */
  contains(scope: StatementScope): boolean {
    let one: StatementScope | undefined = scope;
    while (one && one !== this) one = one.outer;
    return one === this;
  }

  /**
   * Where work that was begun in it runs its statements: here, or around it once it was left. Throws when what it is a part
   * of has ended before it, or has failed.
   */
  active(): StatementScope {
    if (this.isLeft && this.outer) {
      this.hasOutlived = true;
      return this.outer.active();
    }
    this.check();
    return this;
  }

  /** Throws when nothing can be done in it any more. */
  check(): void {
    const { fault } = this;
    if (fault !== undefined) throw fault;
  }

  /** Why nothing can be done in it any more; undefined while something can. */
  get fault(): unknown {
    return this.failure ?? (this.isLeft ? endedBefore() : this.outer?.fault);
  }
}

/**
 * Waits for a turn in the scope where the work runs its statements (`activeScope`). Determines it again after the wait, because the
 * statement that it waited for may have ended the scope.
 */
export async function takeTurn(own: StatementScope, begunIn: StatementScope | undefined): Promise<Turn> {
  const scope = activeScope(own, begunIn);
  const giveBack = await scope.take();
  try {
    if (activeScope(own, begunIn) === scope) return { scope, giveBack };
  } catch (error) {
    giveBack();
    throw error;
  }
  giveBack();
  return takeTurn(own, begunIn);
}

/** Where work runs its statements: in the scope that it was begun in, if that is within its runner's own; else in the latter. */
export function activeScope(own: StatementScope, begunIn: StatementScope | undefined): StatementScope {
  const scope = (begunIn && own.contains(begunIn) ? begunIn : own).active();
  // A runner with a transaction of its own may not go on outside of it.
  if (!own.contains(scope)) throw endedBefore();
  return scope;
}

function endedBefore(): Error {
  return new Error('The transaction that this statement is a part of has ended before it.');
}

import { TransientMap } from '../../core/transient-map.js';
import { unavailable } from '../unavailable.js';

/** Longest wait for a connection that all share, in milliseconds. */
const WAIT_LIMIT_MS = 10_000;

const TIMED_OUT =
  `Waited ${WAIT_LIMIT_MS / 1_000} s for the database connection. Either a transaction takes this long, or a transaction of a query ` +
  'runner waits for a query that does not use its manager (docs/guides/rows-and-transactions.md).';

/** Ends a turn; to be called once. */
export type Release = () => void;

/** Ends a wait for a turn: with it, or with the reason for a refusal. */
type Waiter = (refusal?: Error) => void;

/**
 * Gives a few owners a turn at a time, first come, first served; by default one, for the one SQLite connection or a transaction. TypeORM
 * would let transactions that overlap in time share it, so that one's rollback undoes the other's acknowledged write.
 */
export class Semaphore {
  private taken = 0;
  private readonly waiters = new TransientMap<Waiter, true>();

  /**
   * `refusal` is thrown after a wait that is too long: an owner keeps its turn, or waits, while having it, for another. A wait
   * counts from `progressedAt`, by `performance.now()`, where that is later.
   */
  constructor(
    readonly max = 1,
    private readonly timeoutMs = WAIT_LIMIT_MS,
    private readonly refusal = (): Error => unavailable('the database is busy', new Error(TIMED_OUT)),
    private readonly progressedAt = () => -Infinity,
  ) {}

  /** How many have a turn, and how many wait for one. */
  get load(): { readonly taken: number; readonly waiting: number } {
    return { taken: this.taken, waiting: this.waiters.size };
  }

  /** Waits for a turn and returns the function that ends it. Throws the refusal when that takes too long. */
  async acquire(timeoutMs = this.timeoutMs): Promise<Release> {
    if (this.taken < this.max) this.taken += 1;
    else await this.next(timeoutMs);
    return this.release;
  }

  /** Runs work in a turn. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const release = await this.acquire();
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Refuses all who wait. */
  refuse(refusal: Error): void {
    for (const [end] of this.waiters.all()) end(refusal);
  }

  private readonly release: Release = () => {
    const [next] = this.waiters.first() ?? [];
    if (next) next();
    else this.taken -= 1;
  };

  private next(timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const end: Waiter = (refusal) => {
        this.waiters.delete(end);
        clearTimeout(limit);
        if (refusal) reject(refusal);
        else resolve();
      };
      const expire = (): void => {
        const leftMs = this.progressedAt() + timeoutMs - performance.now();
        if (leftMs > 0) limit = setTimeout(expire, leftMs);
        else end(this.refusal());
      };
      let limit = setTimeout(expire, timeoutMs);
      this.waiters.set(end, true);
    });
  }
}

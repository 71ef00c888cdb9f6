import { TransientMap } from '../../core/transient-map.js';
import { unavailable } from '../unavailable.js';

/** Maximum wait for a shared connection, in milliseconds. */
const WAIT_LIMIT_MS = 10_000;

const TIMED_OUT =
  `Waited ${WAIT_LIMIT_MS / 1_000} s for the database connection. Either a transaction takes this long, or a transaction of a query ` +
  'runner waits for a query that does not use its manager (docs/guides/rows-and-transactions.md).';

/** Releases a permit. Call it once. */
export type Release = () => void;

/** Called without an argument when a permit is granted, or with the reason for a refusal. */
type Waiter = (refusal?: Error) => void;

/**
 * Grants a limited number of permits, first come, first served; by default one, for SQLite's single connection or a transaction. TypeORM
 * would let overlapping transactions share the connection, so that a rollback of one would undo an acknowledged write of the other.
 */
export class Semaphore {
  private inUse = 0;
  private readonly waiters = new TransientMap<Waiter, true>();

  /**
   * `refusal` is thrown after too long a wait, which happens if an owner does not finish, or waits for another permit itself. The wait is
   * measured from `progressedAt`, a value of `performance.now()`, if that is later.
   */
  constructor(
    readonly max = 1,
    private readonly timeoutMs = WAIT_LIMIT_MS,
    private readonly refusal = (): Error => unavailable('the database is busy', new Error(TIMED_OUT)),
    private readonly progressedAt = () => -Infinity,
  ) {}

  get load(): { readonly inUse: number; readonly waiting: number } {
    return { inUse: this.inUse, waiting: this.waiters.size };
  }

  /** Waits for a permit and returns the function that releases it. Throws the refusal if the wait takes too long. */
  async acquire(timeoutMs = this.timeoutMs): Promise<Release> {
    if (this.inUse < this.max) this.inUse += 1;
    else await this.next(timeoutMs);
    return this.release;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    const release = await this.acquire();
    try {
      return await work();
    } finally {
      release();
    }
  }

  refuse(refusal: Error): void {
    for (const [end] of this.waiters.all()) end(refusal);
  }

  private readonly release: Release = () => {
    const [next] = this.waiters.first() ?? [];
    if (next) next();
    else this.inUse -= 1;
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

import { TransientMap } from '../../core/transient-map.js';
import { WaitedTooLong } from './request-waits.js';

/** How many connections of a pool are kept for reads, at least: while commits hang, reads go on. */
const LEAST_FOR_READS = 1;
/** Which part of a pool is kept for reads. */
const PART_FOR_READS = 1 / 5;
/** A pool has at least so many places: a handler in a transaction, and the service that writes beside it. */
const LEAST_PLACES = 2;

/** How many connections of a pool may be in writes at the same time. A pool of two has none to keep for reads. */
export function placesOf(pool: number): number {
  const forReads = Math.max(Math.floor(pool * PART_FOR_READS), LEAST_FOR_READS);
  return Math.min(pool, Math.max(pool - forReads, LEAST_PLACES));
}

/** One who waits for a place. */
interface Waiting {
  readonly go: () => void;
  readonly refuse: (reason: unknown) => void;
}

/** The places of writes: first come, first served. */
export class WritePlaces {
  private taken = 0;
  private readonly waiting = new TransientMap<Waiting, true>();

  constructor(readonly most: number) {}

  /** How many wait for a place. */
  get waitingNow(): number {
    return this.waiting.size;
  }

  /** Takes a place, which is to be given back. Throws WaitedTooLong when none comes free within that time, in milliseconds. */
  async take(limitMs: number): Promise<void> {
    if (this.taken < this.most) this.taken += 1;
    else await this.next(limitMs);
  }

  /** Hands a place to the next, or frees it. */
  giveBack(): void {
    const [next] = this.waiting.first() ?? [];
    if (next) next.go();
    else this.taken -= 1;
  }

  /** Refuses all who wait. */
  refuse(reason: unknown): void {
    for (const [{ refuse }] of this.waiting.all()) refuse(reason);
  }

  private next(limitMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (): void => {
        clearTimeout(limit);
        this.waiting.delete(one);
      };
      const one: Waiting = {
        go: () => {
          done();
          resolve();
        },
        refuse: (reason) => {
          done();
          // The caller decides what it is; errors of this service are Errors.
          reject(reason instanceof Error ? reason : new Error(String(reason)));
        },
      };
      const limit = setTimeout(() => one.refuse(new WaitedTooLong()), limitMs);
      this.waiting.set(one, true);
    });
  }
}

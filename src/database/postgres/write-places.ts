import { TransientMap } from '../../core/transient-map.js';

/** How long a write waits for a place at most, in milliseconds. */
const MOST_WAIT_MS = 1_000;
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

const WAITED = 'a write has waited for a connection for as long as it may';

/** Ends a wait for a place: with it, or with the reason why there is none. */
type Waiting = (refusal?: Error) => void;

/** The places of writes: first come, first served. */
export class WritePlaces {
  private taken = 0;
  private readonly waiting = new TransientMap<Waiting, true>();

  constructor(readonly most: number) {}

  /** How many wait for a place. */
  get waitingNow(): number {
    return this.waiting.size;
  }

  /** Takes a place, which is to be given back. Throws when none comes free within a second. */
  async take(): Promise<void> {
    if (this.taken < this.most) this.taken += 1;
    else await this.next();
  }

  /** Hands a place to the next, or frees it. */
  giveBack(): void {
    const [next] = this.waiting.first() ?? [];
    if (next) next();
    else this.taken -= 1;
  }

  /** Refuses all who wait. */
  refuse(refusal: Error): void {
    for (const [end] of this.waiting.all()) end(refusal);
  }

  private next(): Promise<void> {
    return new Promise((resolve, reject) => {
      const end: Waiting = (refusal) => {
        clearTimeout(limit);
        this.waiting.delete(end);
        if (refusal) reject(refusal);
        else resolve();
      };
      const limit = setTimeout(() => end(new Error(WAITED)), MOST_WAIT_MS);
      this.waiting.set(end, true);
    });
  }
}

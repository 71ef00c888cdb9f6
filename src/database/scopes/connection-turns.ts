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

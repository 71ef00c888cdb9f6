import { driverCodeOf } from './unavailable.js';

/** How long SQLite itself waits for a lock, in milliseconds; it occupies a thread meanwhile, which ends no sooner. */
export const LOCK_TRY_MS = 250;
/** How long a write waits for another process that has the write lock, in milliseconds. */
const LOCK_WAIT_MS = 5_000;

/**
 * Waits for the write lock that another process has: 5 s from when it was first in the way. From then on whoever needs it is
 * refused after one try, until it is free: those who queue behind would wait as long each, one after the other.
 */
export class LockWait {
  private since: number | undefined;

  /** Runs a statement that takes the lock, again while the lock is not to be had. Throws SQLite's error in the end. */
  async run<T>(statement: () => Promise<T>): Promise<T> {
    for (;;) {
      const began = performance.now();
      try {
        const result = await statement();
        this.since = undefined;
        return result;
      } catch (error) {
        if (driverCodeOf(error) !== 'SQLITE_BUSY') throw error;
        this.since ??= began;
        if (performance.now() - this.since >= LOCK_WAIT_MS) throw error;
      }
    }
  }
}

import { Logger } from '@nestjs/common';
import { driverCodeOf } from './availability/sqlite-errors.js';

/** How long SQLite itself waits for a lock (`busy_timeout`), in milliseconds. The wait occupies a thread and cannot be canceled. */
export const LOCK_TRY_MS = 250;
/** How long a write waits for a write lock held by another process, in milliseconds. */
const LOCK_WAIT_MS = 5_000;

/**
 * Waits for a write lock held by another process, until 5 s after it was first found held. From then on, each write is refused after one
 * attempt until the lock is free, because queued writes would otherwise wait 5 s each, one after the other.
 */
export class LockWait {
  private since: number | undefined;

  /** The lock is free: a statement that needs it has succeeded. */
  end(): void {
    this.since = undefined;
  }

  /** Runs a statement that may take the lock, and retries while the lock is held. Throws SQLite's error when time is up. */
  async run<T>(statement: () => Promise<T>): Promise<T> {
    for (;;) {
      const startedAt = performance.now();
      try {
        return await statement();
      } catch (error) {
        if (driverCodeOf(error) !== 'SQLITE_BUSY') throw error;
        this.since ??= startedAt;
        if (performance.now() - this.since >= LOCK_WAIT_MS) throw error;
      }
    }
  }
}

/** Transactions that hold the write lock for longer than this, in milliseconds, are logged. */
const LONG_LOCK_MS = 1_000;

const logger = new Logger('Database');

/**
 * Watches a transaction of this process that holds the write lock. If it holds the lock for longer than a second, this is logged, and again
 * with the total time at its end. Returns the function to call at its end.
 */
export function watchWriteLock(name = () => 'A transaction'): () => void {
  const since = performance.now();
  let isLong = false;
  const timer = setTimeout(() => {
    isLong = true;
    logger.warn(
      `${name()} has held the write lock for ${LONG_LOCK_MS} ms, and blocks all other writers. ` +
        'In a transaction, await only the database.',
    );
  }, LONG_LOCK_MS).unref();
  return () => {
    clearTimeout(timer);
    const total = Math.round(performance.now() - since);
    // The total time is checked as well, because the timer does not fire while the event loop is blocked.
    if (isLong || total >= LONG_LOCK_MS) logger.warn(`${name()} held the write lock for ${total} ms.`);
  };
}

import { Logger } from '@nestjs/common';

/** A transaction that keeps every other writer waiting for longer is told of, in milliseconds. */
export const WRITE_LOCK_BOUND_MS = 1_000;

const logger = new Logger('Database');

/**
 * Watches a transaction that has got the write lock: one that keeps it for longer than a second is logged, and once more
 * with its total when it ends. Answers the function that says that it has ended.
 */
export function watchWriteLock(name: () => string): () => void {
  const since = performance.now();
  let isLong = false;
  const timer = setTimeout(() => {
    isLong = true;
    logger.warn(
      `${name()} has had the write lock for ${WRITE_LOCK_BOUND_MS} ms, and every other writer waits. ` +
        'Await nothing but the database in a transaction.',
    );
  }, WRITE_LOCK_BOUND_MS);
  // The end of the process waits for no transaction.
  timer.unref();
  return () => {
    clearTimeout(timer);
    const total = Math.round(performance.now() - since);
    // A blocked event loop calls no timer.
    if (isLong || total >= WRITE_LOCK_BOUND_MS) logger.warn(`${name()} had the write lock for ${total} ms.`);
  };
}

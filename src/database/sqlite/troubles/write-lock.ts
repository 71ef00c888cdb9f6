import { Logger } from '@nestjs/common';
import { driverCodeOf } from './sqlite-errors.js';

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

/** Least wait that tells of a lock that is kept, in milliseconds: a shorter one was cut short by whoever asked. */
const KEPT_MS = 1_000;

/**
 * Whether another process keeps the write lock. The log is told when writes begin to be refused for it and when they are
 * taken again, and not of every refused write.
 */
export class ForeignLock {
  private readonly logger = new Logger('Database');
  /** Since when it is known to be kept, on the clock of `performance`. */
  private since: number | undefined;

  /** `file` is how the log calls the database. */
  constructor(private readonly file: string) {}

  /** Whether writes are refused for it at the moment, as far as is known. */
  get isKept(): boolean {
    return this.since !== undefined;
  }

  /** Notes a statement that has waited for it in vain since then; answers whether the log was told. */
  note(waitingSince: number): boolean {
    if (this.since !== undefined) return true;
    if (performance.now() - waitingSince < KEPT_MS) return false;
    this.since = waitingSince;
    this.logger.error(
      `${this.file} is locked by another process. Writes are refused with 503 after a wait of some seconds, reads go on. ` +
        `"fuser -v ${this.file}" shows that process; once it ends or lets go, the service goes on by itself.`,
    );
    return true;
  }

  /** Notes that this process has had the lock. */
  end(): void {
    if (this.since === undefined) return;
    const seconds = Math.round((performance.now() - this.since) / 1_000);
    this.since = undefined;
    this.logger.log(
      `${this.file} is written again, after ${seconds} s in which another process had it locked`,
    );
  }
}

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

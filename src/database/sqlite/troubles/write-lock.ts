import { Logger } from '@nestjs/common';
import { driverCodeOf } from './sqlite-errors.js';

/** How long SQLite itself waits for a lock (`busy_timeout`), in milliseconds; the wait occupies a thread and cannot be cancelled. */
export const LOCK_TRY_MS = 250;
/** How long a write waits for a write lock that another process holds, in milliseconds. */
const LOCK_WAIT_MS = 5_000;

/**
 * Waits for a write lock that another process holds, until 5 s after it was first found taken. From then on each write is refused
 * after one try until the lock is free: otherwise queued writes would wait 5 s each, one after the other.
 */
export class LockWait {
  private since: number | undefined;

  /** Runs a statement that takes the lock, and repeats it while the lock is taken. Throws SQLite's error when the wait is over. */
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

/** Least wait after which the lock counts as held by another process, in milliseconds: a shorter one was ended by the caller. */
const KEPT_MS = 1_000;

/**
 * Whether another process holds the write lock for long. The log gets a line when writes begin to be refused for it and one when
 * they succeed again, not one for each refused write.
 */
export class ForeignLock {
  private readonly logger = new Logger('Database');
  /** Since when it is held, by `performance.now()`; undefined while it is not, as far as is known. */
  private since: number | undefined;

  /** `file` is how the log calls the database. */
  constructor(private readonly file: string) {}

  /** Whether writes are being refused for it. */
  get isKept(): boolean {
    return this.since !== undefined;
  }

  /** Notes a statement that has waited for the lock in vain since then; returns whether the log has been told. */
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

  /** Notes that this process got the lock. */
  end(): void {
    if (this.since === undefined) return;
    const seconds = Math.round((performance.now() - this.since) / 1_000);
    this.since = undefined;
    this.logger.log(
      `${this.file} is written again, after ${seconds} s in which another process had it locked`,
    );
  }
}

/** A transaction that holds the write lock for longer is logged, in milliseconds. */
export const WRITE_LOCK_BOUND_MS = 1_000;

const logger = new Logger('Database');

/**
 * Watches a transaction of this process that got the write lock: if it holds the lock for longer than a second, that is logged, and
 * once more with the total time when it ends. Returns the function to call when it has ended.
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
  // The timer alone must not keep the process running.
  timer.unref();
  return () => {
    clearTimeout(timer);
    const total = Math.round(performance.now() - since);
    // The total is compared too: while the event loop is blocked, the timer does not fire.
    if (isLong || total >= WRITE_LOCK_BOUND_MS) logger.warn(`${name()} had the write lock for ${total} ms.`);
  };
}

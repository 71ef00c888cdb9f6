import { Logger } from '@nestjs/common';

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

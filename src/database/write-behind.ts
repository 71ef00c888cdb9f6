import type { Logger, OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { ApiError } from '../core/errors/api-error.js';
import { OneAtATime } from './one-at-a-time.js';

/** How often what was noted is written, in milliseconds: a crash loses at most what was noted since. */
const PERIOD_MS = 1_000;

/** The messages for the log. */
export interface WriteBehindMessages {
  /** When writing begins to fail. */
  readonly failing: string;
  /** When it succeeds again; nothing is logged without it. */
  readonly recovered?: string;
}

/**
 * Collects changes in memory and writes them every second beside the requests, one write at a time, and again at the stop.
 * When a write fails, the changes are kept for the next one, and one line is logged, not one each second; none for what has
 * been logged already, such as a database that is unavailable.
 */
export abstract class WriteBehind implements OnModuleInit, OnModuleDestroy {
  private readonly writes = new OneAtATime(() => this.attempt());
  private timer: NodeJS.Timeout | undefined;
  private isFailing = false;

  protected constructor(
    protected readonly logger: Logger,
    private readonly messages: WriteBehindMessages,
  ) {}

  /** Begins to write every second. A subclass that has something to await first may return a promise. */
  onModuleInit(): unknown {
    this.timer = setInterval(() => void this.flush(), PERIOD_MS).unref();
    return undefined;
  }

  /** Writes what is left, unless this never began. Nest calls it before the database closes. */
  async onModuleDestroy(): Promise<void> {
    if (this.timer === undefined) return;
    clearInterval(this.timer);
    await this.flush();
  }

  /** Writes what was noted until now; on failure it is kept for the next write. Never rejects. */
  flush(): Promise<void> {
    return this.writes.run();
  }

  /** Writes what was noted. When it rejects, it has put back what it could not write. */
  protected abstract write(): Promise<void>;

  private async attempt(): Promise<void> {
    try {
      await this.write();
      if (this.isFailing && this.messages.recovered !== undefined) this.logger.log(this.messages.recovered);
      this.isFailing = false;
    } catch (error) {
      // The outage of the database has been logged already, and its end will be.
      if (error instanceof ApiError && error.isLogged) return;
      if (!this.isFailing) this.logger.error(this.messages.failing, error);
      this.isFailing = true;
    }
  }
}

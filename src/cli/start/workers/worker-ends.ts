import type { AppLogger } from '../../../core/logging/app-logger.js';

const CONTEXT = 'Workers';

/** A worker that has ended. */
export interface EndedWorker {
  readonly pid: number | undefined;
  /** When it was forked, by `performance.now()`. */
  readonly startedAt: number;
  /** Whether it had begun to serve. */
  readonly hadServed: boolean;
  /** Why it could not start, as it told; undefined when it told nothing. */
  readonly reason: string | undefined;
  readonly code: number;
  readonly signal: string | null;
}

/**
 * Tells of workers that end: of each that had served, and of those that cannot start once for each reason, however often that is tried,
 * and once when they start again.
 */
export class WorkerEnds {
  private failing: { readonly reason: string; attempts: number } | undefined;
  private recoveredAt = -Infinity;

  constructor(private readonly logger: AppLogger) {}

  /** One has ended; another is started after so many milliseconds. */
  ended({ pid, startedAt, hadServed, reason, code, signal }: EndedWorker, pauseMs: number): void {
    const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
    if (hadServed)
      return this.logger.warn(`Worker ${pid} ended ${how}; another starts in ${pauseMs} ms`, CONTEXT);
    // It met what has passed meanwhile; the next one tells if it has not.
    if (startedAt < this.recoveredAt) return;
    const why = reason ?? `It ended ${how} before it served.`;
    if (why === this.failing?.reason) {
      this.failing.attempts += 1;
      return;
    }
    this.failing = { reason: why, attempts: (this.failing?.attempts ?? 0) + 1 };
    this.logger.warn(`A worker cannot start, and is tried again and again: ${why}`, CONTEXT);
  }

  /** One serves. */
  serves(): void {
    if (!this.failing) return;
    this.logger.log(`Workers start again, after ${this.failing.attempts} that could not`, CONTEXT);
    this.failing = undefined;
    this.recoveredAt = performance.now();
  }
}

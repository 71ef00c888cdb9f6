import { Logger } from '@nestjs/common';
import type { Counter, Gauge } from 'prom-client';
import type { Clock } from '../../clock.js';
import type { Metrics } from '../../metrics/metrics.js';

/** Why Redis failed when its connection has gone. */
export const CLOSED = 'the connection was closed';
/** What ioredis says of it to who sends a command then. */
const NOT_WRITABLE = "Stream isn't writeable";
const COUNTED_IN_REDIS = 'Quotas are counted in Redis';

/** Whether quotas are counted in Redis or alone; each change is one line in the log, and counted. */
export class RedisState {
  private readonly logger = new Logger('Redis');
  private readonly up: Gauge;
  private readonly changes: Counter<'to'>;
  private told = false;
  private upNow = false;
  private reason = 'not asked yet';

  constructor(metrics: Metrics) {
    this.up = metrics.gauge(
      'petstore_quota_redis_up',
      'Whether quotas are counted in Redis (1) or by this instance alone (0).',
    );
    this.changes = metrics.counter(
      'petstore_quota_redis_changes_total',
      'Changes between counting in Redis and alone.',
      ['to'],
    );
    this.up.set(0);
  }

  /** Whether quotas are counted in Redis. */
  get isUp(): boolean {
    return this.upNow;
  }

  /** Logs how it stands at the start; before it the logger is not there. */
  tell(): void {
    // Two tokens stand for one store, and Nest calls its hook for each.
    if (this.told) return;
    this.told = true;
    if (this.upNow) this.logger.log(COUNTED_IN_REDIS);
    else
      this.logger.warn(
        `Redis cannot be used (${this.reason}); quotas are counted by this instance alone until it can`,
      );
  }

  /** Redis is used from now on. */
  setUp(): void {
    this.upNow = true;
    this.up.set(1);
    this.changes.inc({ to: 'redis' });
    if (this.told) this.logger.log(COUNTED_IN_REDIS);
  }

  /** Redis is not used from now on; `instances` is how many divide the limits. */
  setDown(error: unknown, instances: number): void {
    this.upNow = false;
    this.up.set(0);
    this.changes.inc({ to: 'alone' });
    const reason = reasonOf(error);
    this.logger.warn(
      `Redis failed (${reason}); this instance counts alone, at 1/${instances} of what is left of each limit`,
    );
  }

  /** Why Redis cannot be used, for the line at the start. */
  noteReason(error: unknown): void {
    this.reason = reasonOf(error);
  }
}

/** Why Redis failed, in its own words, without where in a script it did. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.startsWith(NOT_WRITABLE) ? CLOSED : text.replace(/\.? script: [0-9a-f]{40}.*$/, '');
}

/** Shortest and longest pause, and how long Redis must have held before pauses begin anew, in milliseconds. */
const FIRST_MS = 100;
const LONGEST_MS = 5_000;
const HELD_MS = 10_000;

/**
 * How long to leave Redis alone after a failure: each pause twice as long as the one before, up to five seconds, and
 * up to a half of it by chance, so that instances do not come back all at once. A Redis that fails again soon after it
 * was taken up goes on where it was, and so cannot flap.
 */
export class RetryBackoff {
  private failures = 0;
  private upSince: number | undefined;

  constructor(private readonly clock: Clock) {}

  /** Redis is used from now on. */
  up(): void {
    this.upSince = this.clock.steady();
  }

  /** Redis failed; answers the pause until it is asked again, in milliseconds. */
  next(): number {
    if (this.upSince !== undefined && this.clock.steady() - this.upSince >= HELD_MS) this.failures = 0;
    this.upSince = undefined;
    const longest = Math.min(FIRST_MS * 2 ** this.failures, LONGEST_MS);
    this.failures += 1;
    return longest * (1 - Math.random() / 2);
  }
}

import { Logger } from '@nestjs/common';
import type { Counter, Gauge } from 'prom-client';
import type { Clock } from '../../core/time/clock.js';
import type { Metrics } from '../../core/metrics/metrics.js';
import { remedyFor } from './redis-remedies.js';

/** The reason that is logged when the connection was closed. */
export const CLOSED = 'the connection was closed';
/** The error message of ioredis for a command on a closed connection. */
const NOT_WRITABLE = "Stream isn't writeable";
const COUNTED_IN_REDIS = 'Quotas are counted in Redis';

/** Whether quotas are counted in Redis or by this instance alone. Each change is logged in one line and counted in a metric. */
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
      [],
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

  /** Logs the state at the start; before that the logger is not set up. */
  tell(): void {
    // The store is provided under two tokens, and Nest calls its hooks once for each.
    if (this.told) return;
    this.told = true;
    if (this.upNow) this.logger.log(COUNTED_IN_REDIS);
    else
      this.logger.warn(
        `Redis cannot be used (${this.reason}); quotas are counted by this instance alone until it can`,
      );
  }

  /** Called when Redis is used from now on. */
  setUp(): void {
    this.upNow = true;
    this.up.set(1);
    this.changes.inc({ to: 'redis' });
    if (this.told) this.logger.log(COUNTED_IN_REDIS);
  }

  /** Called when Redis is no longer used; `instances` is the number by which limits are divided. */
  setDown(error: unknown, instances: number): void {
    this.upNow = false;
    this.up.set(0);
    this.changes.inc({ to: 'alone' });
    const reason = reasonOf(error);
    this.logger.warn(
      `Redis failed (${reason}); this instance counts alone, at 1/${instances} of what is left of each limit`,
    );
  }

  /** Stores why Redis cannot be used, for the log line at the start. */
  noteReason(error: unknown): void {
    this.reason = reasonOf(error);
  }
}

/** The error message without the position in the script that Redis appends, and what to do about it where that is known. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  if (text.startsWith(NOT_WRITABLE)) return CLOSED;
  const reason = text.replace(/\.? script: [0-9a-f]{40}.*$/, '');
  const remedy = remedyFor(error);
  return remedy === undefined ? reason : `${reason.replace(/\.$/, '')}. ${remedy}`;
}

/** Shortest and longest pause, and how long Redis must have been up for the pauses to start from the shortest, in milliseconds. */
const FIRST_MS = 100;
const LONGEST_MS = 5_000;
const HELD_MS = 10_000;

/**
 * Exponential backoff with jitter between attempts to reconnect: each pause is twice the one before, up to five seconds, less a
 * random part of up to a half, so that instances do not reconnect all at once. If Redis fails again within ten seconds, the
 * pauses continue where they were, so that an unstable Redis is not tried too often.
 */
export class RetryBackoff {
  private failures = 0;
  private upSince: number | undefined;

  constructor(private readonly clock: Clock) {}

  /** Called when Redis is used from now on. */
  up(): void {
    this.upSince = this.clock.steady();
  }

  /** Called when Redis failed; returns the pause before the next attempt, in milliseconds. */
  next(): number {
    if (this.upSince !== undefined && this.clock.steady() - this.upSince >= HELD_MS) this.failures = 0;
    this.upSince = undefined;
    const longest = Math.min(FIRST_MS * 2 ** this.failures, LONGEST_MS);
    this.failures += 1;
    return longest * (1 - Math.random() / 2);
  }
}

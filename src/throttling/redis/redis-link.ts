import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import type { Counter, Gauge } from 'prom-client';
import type { Metrics } from '../../metrics/metrics.js';

/** Longest that a request waits for Redis, in milliseconds. */
const COMMAND_TIMEOUT_MS = 50;
/** How often an instance says that it is there, and how long it counts without, in milliseconds. */
const HEARTBEAT_MS = 2_000;
const FORGOTTEN_MS = 10_000;
/** How often Redis is asked whether it is back, in milliseconds. */
const PROBE_MS = 250;

const COUNTED_IN_REDIS = 'Quotas are counted in Redis';

/** A write on purpose: a Redis that is full or a replica would answer a PING. */
const HEARTBEAT_SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[2]))
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('PEXPIRE', KEYS[1], tonumber(ARGV[2]))
return redis.call('ZCARD', KEYS[1])
`;

/**
 * The connection to Redis and whether it can be relied on. Requests use it only while `isUp`; asking whether it
 * is back is done beside them, so that none waits for it.
 */
export class RedisLink {
  readonly redis: Redis;
  private readonly logger = new Logger('Redis');
  private readonly id = randomUUID();
  private readonly up: Gauge;
  private readonly changes: Counter<'to'>;
  private timer: NodeJS.Timeout | undefined;
  private closed = false;
  private told = false;
  private upNow = false;
  private seen = 1;

  constructor(
    url: string,
    private readonly prefix: string,
    metrics: Metrics,
  ) {
    this.redis = new Redis(url, {
      lazyConnect: true,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      commandTimeout: COMMAND_TIMEOUT_MS,
      connectTimeout: 1_000,
      retryStrategy: (attempt) => Math.min(attempt * 50, 500),
    });
    // Whatever it says arrives at the commands too; without a listener it would end the process.
    this.redis.on('error', () => undefined);
    this.redis.on('close', () => this.failed(new Error('the connection was closed')));
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

  /** Whether requests may be decided in Redis. */
  get isUp(): boolean {
    return this.upNow;
  }

  /** How many instances shared Redis when it was last asked; at least 1. */
  get instances(): number {
    return this.seen;
  }

  /** Connects, waiting at most a second; without Redis it goes on trying and answers all the same. */
  async open(): Promise<void> {
    await this.redis.connect().catch(() => undefined);
    await this.beat();
  }

  /** Logs how it stands at the start; the logger is not there yet when the connection is opened. */
  tell(): void {
    this.told = true;
    if (this.upNow) this.logger.log(COUNTED_IN_REDIS);
    else this.logger.warn('Redis does not answer; quotas are counted by this instance alone until it does');
  }

  /** Records that Redis failed a request: from now on this instance counts alone, until a heartbeat succeeds. */
  failed(error: unknown): void {
    if (!this.upNow || this.closed) return;
    this.upNow = false;
    this.up.set(0);
    this.changes.inc({ to: 'alone' });
    const reason = error instanceof Error ? error.message : String(error);
    this.logger.warn(`Redis failed (${reason}); this instance counts alone, at 1/${this.seen} of each limit`);
    // Answers still under way would be taken for those of later commands.
    this.redis.disconnect(true);
    this.schedule(PROBE_MS);
  }

  /** Says good-bye and disconnects. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    if (this.upNow) await this.redis.zrem(this.instancesKey, this.id).catch(() => undefined);
    this.redis.disconnect();
  }

  private async beat(): Promise<void> {
    try {
      const count = await this.redis.eval(HEARTBEAT_SCRIPT, 1, this.instancesKey, this.id, FORGOTTEN_MS);
      if (!Number.isSafeInteger(count)) throw new Error('it answered something that is no count');
      this.seen = Math.max(1, count as number);
      this.recovered();
    } catch (error) {
      this.failed(error);
    }
    this.schedule(this.upNow ? HEARTBEAT_MS : PROBE_MS);
  }

  private recovered(): void {
    if (this.upNow || this.closed) return;
    this.upNow = true;
    this.up.set(1);
    this.changes.inc({ to: 'redis' });
    if (this.told) this.logger.log(COUNTED_IN_REDIS);
  }

  private schedule(delayMs: number): void {
    clearTimeout(this.timer);
    if (this.closed) return;
    this.timer = setTimeout(() => void this.beat(), delayMs);
    // Heartbeats alone keep no process alive.
    this.timer.unref();
  }

  private get instancesKey(): string {
    return `${this.prefix}instances`;
  }
}

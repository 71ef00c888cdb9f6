import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Gauge } from 'prom-client';
import type { Clock } from '../../clock.js';
import type { Metrics } from '../../metrics/metrics.js';
import type { RedisKeys } from './redis-keys.js';

/** How long an instance counts without a heartbeat, in milliseconds. */
const FORGOTTEN_MS = 10_000;
/**
 * How long a smaller number is not believed, in milliseconds. After an outage all heartbeats have expired, and whoever
 * is back first would think itself alone; the others are back within the longest pause and a heartbeat.
 */
const KEPT_MS = 15_000;

/** By the clock of Redis, so that clocks of instances do not matter; times ahead of it are from before it was set back. */
const HEARTBEAT_SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local added = redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[2]))
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + 1, '+inf')
redis.call('PEXPIRE', KEYS[1], tonumber(ARGV[2]))
return { redis.call('ZCARD', KEYS[1]), added }
`;

/** How many instances count in one Redis, this one included. */
export class InstanceCount {
  private readonly id = randomUUID();
  private counted = 1;
  private keptUntil = 0;
  private readonly told: Gauge;

  constructor(
    private readonly redis: Redis,
    private readonly keys: RedisKeys,
    metrics: Metrics,
    private readonly clock: Clock,
  ) {
    this.told = metrics.gauge(
      'petstore_quota_redis_instances',
      'Instances that count in Redis, as last seen: while one counts alone, limits are divided by them.',
    );
    this.told.set(this.counted);
  }

  /** The number to divide limits by: a larger one counts at once, a smaller one after 15 seconds; at least 1. */
  get number(): number {
    return this.counted;
  }

  /** Says that this instance is there. Answers whether Redis did not know of it. */
  async beat(): Promise<{ isNew: boolean }> {
    const answer = await this.redis.eval(HEARTBEAT_SCRIPT, 1, this.keys.instances(), this.id, FORGOTTEN_MS);
    const [count, added] = Array.isArray(answer) ? (answer as unknown[]) : [];
    if (!Number.isSafeInteger(count)) throw new Error('it answered something that is no count');
    const now = this.clock.steady();
    if ((count as number) >= this.counted || now >= this.keptUntil) {
      this.counted = Math.max(1, count as number);
      this.keptUntil = now + KEPT_MS;
      this.told.set(this.counted);
    }
    return { isNew: added === 1 };
  }

  /** Redis is back after an outage: the others may be away a little longer. */
  keep(): void {
    this.keptUntil = this.clock.steady() + KEPT_MS;
  }

  /** Says good-bye. */
  async leave(): Promise<void> {
    await this.redis.zrem(this.keys.instances(), this.id);
  }
}

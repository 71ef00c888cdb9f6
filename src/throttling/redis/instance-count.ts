import { randomUUID } from 'node:crypto';
import type { Gauge } from 'prom-client';
import type { Clock } from '../../clock.js';
import type { Metrics } from '../../metrics/metrics.js';
import type { RedisClient } from './redis-client.js';
import type { RedisKeys } from './redis-keys.js';

/** After this time without a heartbeat an instance no longer counts, in milliseconds. */
const FORGOTTEN_MS = 10_000;
/**
 * For how long a smaller number is ignored, in milliseconds. After an outage all heartbeats have expired, and the first instance
 * to reconnect would find only itself; the others reconnect within the longest backoff and one heartbeat.
 */
const KEPT_MS = 15_000;

/** Uses the clock of Redis, not those of the instances; drops times in its future, which are from before it was set back. */
const HEARTBEAT_SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local added = redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[2]))
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + 1, '+inf')
redis.call('PEXPIRE', KEYS[1], tonumber(ARGV[2]))
return { redis.call('ZCARD', KEYS[1]), added }
`;

/** Counts the instances that share one Redis by their heartbeats, this one included. */
export class InstanceCount {
  private readonly id = randomUUID();
  private counted = 1;
  private keptUntil = 0;
  private readonly told: Gauge;

  constructor(
    private readonly redis: RedisClient,
    private readonly keys: RedisKeys,
    metrics: Metrics,
    private readonly clock: Clock,
  ) {
    this.told = metrics.gauge(
      'petstore_quota_redis_instances',
      'Instances that count in Redis, as last seen: while one counts alone, limits are divided by them.',
      [],
      undefined,
      'max',
    );
    this.told.set(this.counted);
  }

  /** The number to divide limits by, at least 1. A larger number is used at once, a smaller one after 15 seconds. */
  get number(): number {
    return this.counted;
  }

  /** Sends a heartbeat. `isNew` tells that Redis did not know this instance. */
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

  /** Called after an outage: keeps the number for now, because the others may reconnect a little later. */
  keep(): void {
    this.keptUntil = this.clock.steady() + KEPT_MS;
  }

  /** Removes this instance from the count. */
  async leave(): Promise<void> {
    await this.redis.zrem(this.keys.instances(), this.id);
  }
}

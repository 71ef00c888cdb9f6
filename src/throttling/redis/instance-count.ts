import { randomUUID } from 'node:crypto';
import type { Gauge } from 'prom-client';
import type { Clock } from '../../core/time/clock.js';
import type { Metrics } from '../../core/metrics/metrics.js';
import type { RedisClient } from './redis-client.js';
import type { RedisKeys } from './redis-keys.js';

/** After this time without a heartbeat an instance no longer counts, in milliseconds. */
const FORGOTTEN_MS = 10_000;
/**
 * For how long a smaller number is ignored, in milliseconds. After an outage all heartbeats have expired, and the first instance
 * to reconnect would find only itself; the others reconnect within the longest backoff and one heartbeat.
 */
const KEPT_MS = 15_000;
/** How long the name of the data is kept that no instance asks for, in milliseconds. */
const DATA_NAME_MS = 86_400_000;

/**
 * Uses the clock of Redis, not those of the instances; drops times in its future, which are from before it was set back.
 * KEYS: the heartbeats; the name of the data. ARGV: id of the instance, or nothing for another process; for how long a heartbeat
 * counts, in ms; the name that the data has unless it has one; for how long it is kept, in ms. Returns the number of instances,
 * whether this one is new, and the name.
 */
const HEARTBEAT_SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local added = ARGV[1] ~= '' and redis.call('ZADD', KEYS[1], now, ARGV[1]) or 0
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[2]))
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + 1, '+inf')
redis.call('PEXPIRE', KEYS[1], tonumber(ARGV[2]))
local name = redis.call('GET', KEYS[2]) or ARGV[3]
redis.call('SET', KEYS[2], name, 'PX', tonumber(ARGV[4]))
return { redis.call('ZCARD', KEYS[1]), added, name }
`;

/** Counts the instances that share one Redis by their heartbeats, this one included once it has joined. */
export class InstanceCount {
  /** The number to divide limits by, at least 1. A larger number is used at once, a smaller one after 15 seconds. */
  number = 1;
  /**
   * The random name of the data in the Redis that answered last. One that lost its data gets the name again from the first instance
   * that comes, and the others take over what they find.
   */
  dataName: string = randomUUID();
  private readonly id = randomUUID();
  private hasJoined = false;
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
      'Instances that count in Redis, as last seen; an instance that counts alone divides limits by this number.',
      [],
    );
    this.told.set(this.number);
  }

  /** From the next heartbeat on this process counts as an instance: it serves. */
  join(): void {
    this.hasJoined = true;
  }

  /** Sends a heartbeat. `isNew` means that Redis did not know this instance. */
  async beat(): Promise<{ isNew: boolean }> {
    const id = this.hasJoined ? this.id : '';
    const answer = await this.redis.eval(
      HEARTBEAT_SCRIPT,
      2,
      this.keys.instances(),
      this.keys.data(),
      id,
      FORGOTTEN_MS,
      this.dataName,
      DATA_NAME_MS,
    );
    const [count, added, name] = Array.isArray(answer) ? (answer as unknown[]) : [];
    if (!Number.isSafeInteger(count)) throw new Error('it returned an invalid count');
    if (typeof name === 'string') this.dataName = name;
    const now = this.clock.steady();
    if ((count as number) >= this.number || now >= this.keptUntil) {
      this.number = Math.max(1, count as number);
      this.keptUntil = now + KEPT_MS;
      this.told.set(this.number);
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

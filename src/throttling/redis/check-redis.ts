import { SystemClock } from '../../core/time/clock.js';
import {
  type RedisLocation,
  connectWithin,
  isClusterUrl,
  losesData,
  mastersOf,
  prepare,
  reasonOf,
  redisClient,
} from './redis-client.js';
import { remedyFor } from './redis-remedies.js';
import { REDIS_PREFIX, RedisKeys } from './redis-keys.js';
import { RedisQuotaStore } from './redis-quota-store.js';

/** Time limit to connect to Redis, and for each response, in milliseconds. */
const CHECK_LIMIT_MS = 2_000;

/** What `petstore doctor` reports about Redis. */
interface CheckedRedis {
  /** How far Redis's clock is ahead of this machine's, in milliseconds; negative if behind. */
  readonly aheadMs: number;
  /** Its `maxmemory-policy`, unless that is `noeviction`. */
  readonly evictsKeys: string | undefined;
  /** Whether it loses all counts when it restarts; false if its user lacks permission to find out. */
  readonly isVolatile: boolean;
  /** The random name of its data; empty before the first instance. */
  readonly countsIn: string;
}

/**
 * Throws the reason, with the remedy, if an instance could not count in this Redis. Runs the same commands on the same keys as an instance,
 * because a PING tests neither scripts nor permissions. Is not counted as an instance.
 */
export async function checkRedis(location: RedisLocation): Promise<CheckedRedis> {
  const limits = { connectTimeout: CHECK_LIMIT_MS, commandTimeout: CHECK_LIMIT_MS };
  const redis = redisClient(location, limits);
  let reason: Error | undefined;
  redis.on('error', (error) => (reason = reasonOf(error)));
  // `petstore doctor` runs without an application that could provide a clock.
  const clock = new SystemClock();
  const keys = new RedisKeys(REDIS_PREFIX, isClusterUrl(location.url));
  try {
    await connectWithin(redis, CHECK_LIMIT_MS);
    await prepare(redis);
    const store = new RedisQuotaStore(redis, keys, clock);
    await store.probe();
    await Promise.all(mastersOf(redis).map((master) => master.ping()));
    await redis.zcard(keys.beats());
    const before = clock.now();
    const [seconds, microseconds] = await redis.time();
    const reply = Number(seconds) * 1_000 + Number(microseconds) / 1_000;
    const aheadMs = reply - (before + clock.now()) / 2;
    // The Redis user may lack permission for this command.
    const memory = await redis.info('memory').catch(() => '');
    const isVolatile = await losesData(redis);
    // Only this event reports a wrong password if the user `default` may run all these commands.
    if (reason) throw reason;
    return {
      aheadMs,
      evictsKeys: /^maxmemory_policy:(?!noeviction)([\w-]+)/m.exec(memory)?.[1],
      isVolatile,
      countsIn: (await redis.get(keys.data())) ?? '',
    };
  } catch (error) {
    const failure = reason ?? (error as Error);
    const remedy = remedyFor(failure);
    throw remedy === undefined
      ? failure
      : new Error(`${failure.message.replace(/\.$/, '')}. ${remedy}`, { cause: failure });
  } finally {
    redis.disconnect();
  }
}

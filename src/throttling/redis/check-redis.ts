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

/** How long Redis may take to connect, and to answer, in milliseconds. */
const CHECK_LIMIT_MS = 2_000;

/** What `petstore doctor` finds of a Redis that an instance could count in. */
interface CheckedRedis {
  /** By how much the clock of Redis is ahead of this machine's, in milliseconds; less than 0 when it is behind. */
  readonly aheadMs: number;
  /** Its `maxmemory-policy` where that is not `noeviction`. */
  readonly evictsKeys: string | undefined;
  /** Whether it loses all counts when it restarts; false where its user may not ask. */
  readonly isVolatile: boolean;
  /** The random name of what is in it; empty before the first instance. */
  readonly countsIn: string;
}

/**
 * Throws the reason if an instance could not count in Redis, and the remedy. Runs the commands that an instance runs, on the same
 * keys, because a PING tries neither scripts nor permissions. Is not counted as an instance.
 */
export async function checkRedis(location: RedisLocation): Promise<CheckedRedis> {
  const limits = { connectTimeout: CHECK_LIMIT_MS, commandTimeout: CHECK_LIMIT_MS };
  const redis = redisClient(location, limits);
  let reason: Error | undefined;
  redis.on('error', (error) => (reason = reasonOf(error)));
  // `petstore doctor` has no application whose clock it could use.
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
    // A user of Redis may lack the right to ask.
    const memory = await redis.info('memory').catch(() => '');
    const isVolatile = await losesData(redis);
    // A wrong password is reported by this event alone where the user `default` may do all of that.
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

import { SystemClock } from '../../core/time/clock.js';
import { type RedisLocation, connectTo, isClusterUrl, reasonOf, redisClient } from './redis-client.js';
import { type InTime, withTimeout } from './redis-commands.js';
import { remedyFor } from './redis-remedies.js';
import { REDIS_PREFIX, RedisKeys } from './redis-keys.js';
import { RedisQuotaStore } from './redis-quota-store.js';

/** How long Redis may take to connect, and to answer, in milliseconds. */
const CHECK_LIMIT_MS = 2_000;

const inTime: InTime = (answer) => withTimeout(answer, CHECK_LIMIT_MS);

/**
 * Throws the reason if an instance could not count in Redis, and the remedy. Runs the commands that an instance runs, on the same
 * keys, because a PING tries neither scripts nor permissions. Is not counted as an instance. Answers by how much the clock of Redis is
 * ahead of this machine's, in milliseconds; less than 0 when it is behind; and `evicts`, its `maxmemory-policy` where that is not
 * `noeviction`.
 */
export async function checkRedis(
  location: RedisLocation,
): Promise<{ readonly aheadMs: number; readonly evicts: string | undefined }> {
  const redis = redisClient(location, { connectTimeout: CHECK_LIMIT_MS });
  let reason: Error | undefined;
  redis.on('error', (error) => (reason = reasonOf(error)));
  // `petstore doctor` has no application whose clock it could use.
  const clock = new SystemClock();
  const keys = new RedisKeys(REDIS_PREFIX, isClusterUrl(location.url));
  try {
    await connectTo(redis);
    const store = new RedisQuotaStore(redis, keys, clock);
    await inTime(store.probe());
    await inTime(redis.zcard(keys.instances()));
    const before = clock.now();
    const [seconds, microseconds] = await inTime(redis.time());
    const there = Number(seconds) * 1_000 + Number(microseconds) / 1_000;
    const aheadMs = there - (before + clock.now()) / 2;
    // A user of Redis may lack the right to ask.
    const memory = await inTime(redis.info('memory')).catch(() => '');
    return { aheadMs, evicts: /^maxmemory_policy:(?!noeviction)([\w-]+)/m.exec(memory)?.[1] };
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

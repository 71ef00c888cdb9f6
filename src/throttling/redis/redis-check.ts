import { Redis } from 'ioredis';
import { inTime } from './in-time.js';
import { REDIS_PREFIX, RedisKeys } from './redis-keys.js';
import { RedisQuotaStore } from './redis-quota-store.js';

/** How long Redis may take to connect, and to answer, in milliseconds. */
const LIMIT_MS = 2_000;

/**
 * Throws why an instance could not count in the Redis of a URL. Asks by what an instance asks with, on its keys: a PING says
 * nothing of scripts, permissions and what stands in the way. Joins no instances.
 */
export async function checkRedis(url: string): Promise<void> {
  const redis = new Redis(url, {
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    connectTimeout: LIMIT_MS,
    enableReadyCheck: false,
    retryStrategy: () => null,
    disableClientInfo: true,
  });
  let reason: unknown;
  redis.on('error', (error) => (reason = error));
  const keys = new RedisKeys(REDIS_PREFIX);
  try {
    await redis.connect();
    await new RedisQuotaStore(redis, keys, undefined, LIMIT_MS).probe();
    await inTime(redis.zcard(keys.instances()), LIMIT_MS);
  } catch (error) {
    throw reason ?? error;
  } finally {
    redis.disconnect();
  }
}

import { setTimeout as pause } from 'node:timers/promises';
import {
  type RedisClient,
  type RedisLocation,
  connectWithin,
  isClusterUrl,
  prepare,
  redisClient,
} from './redis-client.js';
import { REDIS_PREFIX, RedisKeys } from './redis-keys.js';

/** How long a start waits for them to exit, in milliseconds. */
const WAIT_MS = 15_000;
const POLL_MS = 500;
/** An instance without a heartbeat for this time, in milliseconds, has exited. */
const STALE_MS = 10_000;
/** Time limit to connect to Redis, and for each response, in milliseconds. */
const LIMIT_MS = 1_000;

const FOUND =
  'Instances of an older build use this Redis, and this build cannot run alongside them. Stop all of them, run ' +
  '`petstore db migrate` and start again (CHANGELOG.md, "To update a build from before 1.0.0").';

/**
 * Waits for instances of builds up to November 2026 to exit. If they do not, throws an Error that says what to do; resolves if Redis is
 * unavailable.
 */
export async function waitForOlderBuilds(location: RedisLocation): Promise<void> {
  const redis = redisClient(location, { connectTimeout: LIMIT_MS, commandTimeout: LIMIT_MS });
  // The application logs Redis errors; without a listener, ioredis would.
  for (const event of ['error', 'node error']) redis.on(event, () => undefined);
  const beats = new RedisKeys(REDIS_PREFIX, isClusterUrl(location.url)).beatsOfOlderBuilds();
  try {
    await connectWithin(redis, LIMIT_MS)
      .then(() => prepare(redis))
      .catch(() => undefined);
    let isFound = false;
    for (let waitedMs = 0; ; waitedMs += POLL_MS) {
      // A failed query leaves the last result in place.
      isFound = await isAny(redis, beats).catch(() => isFound);
      if (!isFound) return;
      if (waitedMs >= WAIT_MS) throw new Error(FOUND);
      await pause(POLL_MS);
    }
  } finally {
    redis.disconnect();
  }
}

/** Whether one has sent a recent heartbeat, by the clock of Redis. */
async function isAny(redis: RedisClient, beats: string): Promise<boolean> {
  const [seconds, microseconds] = await redis.time();
  const now = Number(seconds) * 1_000 + Number(microseconds) / 1_000;
  return (await redis.zcount(beats, now - STALE_MS, now)) > 0;
}

import { setTimeout as pause } from 'node:timers/promises';
import {
  type RedisClient,
  type RedisLocation,
  connectWithin,
  isClusterUrl,
  prepare,
  reasonOf,
  redisClient,
} from './redis-client.js';
import { Refusal } from '../../core/refusal.js';
import { REDIS_PREFIX, RedisKeys } from './redis-keys.js';

/** How long startup waits for them to exit, in milliseconds. */
const WAIT_MS = 15_000;
const POLL_MS = 500;
/** An instance without a heartbeat for this time, in milliseconds, has exited. */
const STALE_MS = 10_000;
/** Time limit to connect to Redis, and for each response, in milliseconds: long enough for a busy machine. */
const LIMIT_MS = 5_000;
const REMEDY = '(CHANGELOG.md, "To update a build from before 1.0.0")';
const FOUND =
  'Instances of an older build use this Redis, and this build cannot run alongside them. Stop all of them, run ' +
  `\`petstore db migrate\` and start again ${REMEDY}.`;
const UNKNOWN =
  'so it is unknown whether instances of a build from before 1.0.0 are running. Make sure that all of them are stopped';

/**
 * Waits for instances of builds up to November 2026 to exit. If they do not, throws Refusal with what to do. If Redis does not respond,
 * resolves with a warning for the log.
 */
export async function waitForOlderBuilds(location: RedisLocation): Promise<string | undefined> {
  const redis = redisClient(location, { connectTimeout: LIMIT_MS, commandTimeout: LIMIT_MS });
  let reason: Error | undefined;
  for (const event of ['error', 'node error']) redis.on(event, (error: Error) => (reason = reasonOf(error)));
  const beats = new RedisKeys(REDIS_PREFIX, isClusterUrl(location.url)).beatsOfOlderBuilds();
  try {
    await connectWithin(redis, LIMIT_MS);
    await prepare(redis);
    let isFound = await isAny(redis, beats);
    for (let waitedMs = 0; isFound; waitedMs += POLL_MS) {
      if (waitedMs >= WAIT_MS) throw new Refusal(FOUND);
      await pause(POLL_MS);
      // A failed query leaves the last result in place.
      isFound = await isAny(redis, beats).catch(() => isFound);
    }
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const { message } = reason ?? (error as Error);
    return `At startup, Redis did not respond (${message}), ${UNKNOWN} ${REMEDY}.`;
  } finally {
    redis.disconnect();
  }
}

/** Whether any instance has sent a recent heartbeat, according to the clock of Redis. */
async function isAny(redis: RedisClient, beats: string): Promise<boolean> {
  const [seconds, microseconds] = await redis.time();
  const now = Number(seconds) * 1_000 + Number(microseconds) / 1_000;
  // A heartbeat may arrive between the two commands.
  return (await redis.zcount(beats, now - STALE_MS, now + LIMIT_MS)) > 0;
}

import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../../core/time/clock.js';
import type { RedisClient } from './redis-client.js';
import type { RedisKeys } from './redis-keys.js';

/** How long a start waits for them to end, in milliseconds. */
const PATIENCE_MS = 15_000;
/** How often it looks, in milliseconds. */
const LOOK_MS = 500;
/** After this time without a heartbeat one has ended, in milliseconds. */
const GONE_MS = 10_000;

const FOUND =
  'Instances of an older build count in this Redis, and this build cannot run beside them: stop all of them, run ' +
  '`petstore db migrate` and start again (CHANGELOG.md, "To update a build from before 1.0.0").';

/**
 * Waits for instances of builds of November 2026 and before to end. Throws an Error that says what to do when they do not; resolves while
 * Redis is unavailable (`isUp`).
 */
export async function waitForOlderBuilds(
  redis: RedisClient,
  keys: RedisKeys,
  clock: Clock,
  isUp: () => boolean,
): Promise<void> {
  const until = clock.steady() + PATIENCE_MS;
  // A question without a response says nothing while heartbeats have one.
  while (isUp() && (await isAny(redis, keys).catch(() => true))) {
    if (clock.steady() >= until) throw new Error(FOUND);
    await pause(LOOK_MS);
  }
}

/** Whether one has sent a heartbeat of late, by the clock of Redis. */
async function isAny(redis: RedisClient, keys: RedisKeys): Promise<boolean> {
  const [seconds, microseconds] = await redis.time();
  const now = Number(seconds) * 1_000 + Number(microseconds) / 1_000;
  return (await redis.zcount(keys.beatsOfOlderBuilds(), now - GONE_MS, now)) > 0;
}

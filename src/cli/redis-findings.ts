import type { Settings } from '../core/config/settings.js';
import { type Finding, messageOf, well, wrong } from './finding.js';
import { comparedClock } from './machine-findings.js';

const NOEVICTION = 'Set its maxmemory-policy to noeviction: an evicted count admits its client anew.';

/**
 * Whether Redis takes counts and keeps them, and whether the clock of this machine is its clock: instances count together in minutes that each takes
 * from its own clock, and Redis is the one place that all of them reach.
 */
export async function examineRedis({ redisUrl, redisCa }: Settings): Promise<Finding[]> {
  if (redisUrl === null)
    return [{ check: 'redis', state: 'skipped', found: 'REDIS_URL is not set: one process counts alone' }];
  try {
    const { checkRedis } = await import('../throttling/redis/check-redis.js');
    const { aheadMs, evicts } = await checkRedis({ url: redisUrl, ca: redisCa });
    const found =
      evicts === undefined
        ? well('redis', 'it takes counts')
        : wrong('redis', `it takes counts, but evicts them when memory is short (${evicts}). ${NOEVICTION}`);
    return [found, comparedClock(aheadMs, 'Redis')];
  } catch (error) {
    const found = `it takes no counts: ${messageOf(error).replace(/\.$/, '')}. Look at REDIS_URL and at the server.`;
    return [wrong('redis', found)];
  }
}

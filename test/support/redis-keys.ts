import { Redis } from 'ioredis';
import { afterAll } from 'vitest';
import { REDIS_URL } from './requirements.js';

/** Has the keys that a suite writes to the Redis of all suites removed at its end, also when it fails. Call it once in its file. */
export function removeRedisKeysAtEnd(): void {
  afterAll(async () => {
    const redis = new Redis(REDIS_URL, {
      lazyConnect: true,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
    });
    redis.on('error', () => undefined);
    try {
      await redis.connect();
      for (const pattern of ['test:*', 'petstore:*'])
        for await (const keys of redis.scanStream({ match: pattern, count: 1_000 }) as AsyncIterable<
          string[]
        >)
          if (keys.length > 0) await redis.unlink(keys);
    } catch {
      // No Redis answers: its suites were skipped.
    } finally {
      redis.disconnect();
    }
  });
}

import { Redis } from 'ioredis';
import { afterAll } from 'vitest';
import { REDIS_URL } from './requirements.js';

/** Removes the keys that a suite writes to the shared Redis at the end of the suite, even if it fails. Call it once per file. */
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
      // Redis is not available, so the suites that use it were skipped.
    } finally {
      redis.disconnect();
    }
  });
}

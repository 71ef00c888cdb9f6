import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { SystemClock } from '../../src/core/time/clock.js';
import { MemoryQuotaStore } from '../../src/throttling/memory/memory-quota-store.js';
import { RedisKeys } from '../../src/throttling/redis/redis-keys.js';
import { RedisQuotaStore } from '../../src/throttling/redis/redis-quota-store.js';
import { describeQuotaStore } from '../support/quota-store-suite.js';
import { describeWith, REDIS_URL } from '../support/requirements.js';

/** How many random walks; PETSTORE_TEST_WALKS names another number, for whoever runs the suite hundreds of times. */
const WALKS = Number(process.env.PETSTORE_TEST_WALKS ?? 4_000);

describeQuotaStore('the store in this process', {
  open: (rules) => Promise.resolve([new MemoryQuotaStore(new SystemClock(), undefined, rules)]),
  isOfOneProcess: true,
  runs: WALKS,
});

describeWith('redis', 'over a real Redis', () => {
  const connections: Redis[] = [];

  for (const [name, instances] of [
    ['the store in Redis', 1],
    ['two instances that share one Redis', 2],
  ] as const) {
    describeQuotaStore(name, {
      open: (rules) => {
        const prefix = `test:${randomUUID()}:`;
        return Promise.resolve(
          Array.from({ length: instances }, () => {
            const redis = new Redis(REDIS_URL);
            connections.push(redis);
            return new RedisQuotaStore(redis, new RedisKeys(prefix), new SystemClock(), rules);
          }),
        );
      },
      isOfOneProcess: false,
      close: async () => {
        await Promise.all(connections.splice(0).map((redis) => redis.quit()));
      },
      runs: 200,
    });
  }
});

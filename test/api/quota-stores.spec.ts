import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { Metrics } from '../../src/core/metrics/metrics.js';
import { SystemClock } from '../../src/core/time/clock.js';
import { MemoryQuotaStore } from '../../src/throttling/memory/memory-quota-store.js';
import { RedisKeys } from '../../src/throttling/redis/redis-keys.js';
import { RedisQuotaStore } from '../../src/throttling/redis/redis-quota-store.js';
import { ResilientQuotaStore } from '../../src/throttling/redis/resilient-quota-store.js';
import { describeQuotaStore } from '../support/quota-store-suite.js';
import { describeWith, REDIS_URL } from '../support/requirements.js';
import { removeRedisKeysAtEnd } from '../support/redis-keys.js';

removeRedisKeysAtEnd();

describeQuotaStore('the store in this process', {
  open: (rules) => Promise.resolve([new MemoryQuotaStore(new SystemClock(), undefined, rules)]),
  isOfOneProcess: true,
  runs: process.env['PETSTORE_TEST_WHOLE'] === undefined ? 400 : 4_000,
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
      runs: 60,
    });
  }

  const resilient: ResilientQuotaStore[] = [];
  describeQuotaStore('two instances that would go on without it', {
    open: async (rules) => {
      const settings = {
        location: { url: REDIS_URL, ca: null },
        prefix: `test:${randomUUID()}:`,
        limitMs: 2_000,
      };
      const clock = new SystemClock();
      for (let opened = 0; opened < 2; opened += 1) {
        const memory = new MemoryQuotaStore(clock, undefined, rules);
        resilient.push(await ResilientQuotaStore.open({ ...settings, rules }, memory, new Metrics(), clock));
      }
      return resilient;
    },
    isOfOneProcess: false,
    close: async () => {
      await Promise.all(resilient.map((store) => store.onModuleDestroy()));
    },
    runs: 60,
  });
});

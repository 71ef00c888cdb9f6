import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SystemClock } from '../../src/core/time/clock.js';
import { checkRedis } from '../../src/throttling/redis/check-redis.js';
import { redisClient, type RedisClient } from '../../src/throttling/redis/redis-client.js';
import { RedisKeys } from '../../src/throttling/redis/redis-keys.js';
import { RedisQuotaStore } from '../../src/throttling/redis/redis-quota-store.js';
import { describeQuotaStore } from '../support/quota-store-suite.js';
import { RedisClusterServers } from '../support/redis-groups.js';
import { describeWith } from '../support/requirements.js';

describeWith('redis-server', 'on a Redis Cluster', () => {
  let cluster: RedisClusterServers;
  beforeAll(async () => {
    cluster = await RedisClusterServers.start();
  });
  afterAll(() => cluster.remove());

  const connections: RedisClient[] = [];
  describeQuotaStore('two instances', {
    open: async (rules) => {
      const keys = new RedisKeys(`test:${randomUUID()}:`, true);
      return Promise.all(
        Array.from({ length: 2 }, async () => {
          const redis = redisClient({ url: cluster.url, ca: null }, { connectTimeout: 5_000 });
          connections.push(redis);
          await redis.connect();
          return new RedisQuotaStore(redis, keys, new SystemClock(), rules);
        }),
      );
    },
    isOfOneProcess: false,
    close: async () => {
      await Promise.all(connections.splice(0).map((redis) => redis.quit()));
    },
    runs: 30,
  });

  it('takes counts, as `petstore doctor` finds', async () => {
    await expect(checkRedis({ url: cluster.url, ca: null })).resolves.toEqual({
      aheadMs: expect.any(Number),
      countsIn: '',
      evictsKeys: undefined,
      isVolatile: true,
    });
  });

  it('is used with a URL of a single server: the reason is logged', async () => {
    await expect(
      checkRedis({ url: `redis://127.0.0.1:${cluster.nodes[0]?.port}`, ca: null }),
    ).rejects.toThrow(/MOVED|CROSSSLOT/);
  });
});

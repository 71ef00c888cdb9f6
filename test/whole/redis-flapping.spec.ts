import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { postgresOfTest } from '../support/databases.js';
import { Instances } from '../support/instances.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith } from '../support/requirements.js';
import { LEAST, SteadyLoad, limitedClient } from '../support/steady-load.js';

const LIMIT = 1_000;
const PER_SECOND = 60;
/** How often Redis goes and comes, and how long it is away, and here, in milliseconds. */
const [TIMES, EVERY_MS] = [15, 2_000];

describeWith('redis-server', 'a Redis that comes and goes every two seconds for a minute', () => {
  describeWith('postgres', 'under two instances', () => {
    it.each<
      [how: string, most: number, go: (redis: RedisServer) => unknown, come: (redis: RedisServer) => unknown]
    >([
      ['killed', 2, (redis) => redis.kill(), (redis) => redis.start()],
      ['paused', 2, (redis) => redis.signal('SIGSTOP'), (redis) => redis.signal('SIGCONT')],
    ])('%s: no request fails, and a client gets at most %d times its limit', async (_, most, go, start) => {
      const redis = await RedisServer.ofTest('--appendonly', 'yes', '--appendfsync', 'always');
      const instances = await Instances.start(2, {
        DATABASE_URL: await postgresOfTest(),
        REDIS_URL: redis.url,
      });
      onTestFinished(() => instances.close());
      await instances.untilInRedis();
      const load = new SteadyLoad(instances.all, (await limitedClient(instances, LIMIT)).key, PER_SECOND);
      const { failures } = instances;
      for (let times = 0; times < TIMES; times += 1) {
        await go(redis);
        await pause(EVERY_MS);
        await start(redis);
        await pause(EVERY_MS);
      }
      await instances.untilInRedis();
      await load.untilRefused(2 * PER_SECOND);
      await load.end();
      expect([load.unexpected, instances.errors()]).toEqual([[], []]);
      expect(load.admitted / LIMIT).toBeLessThanOrEqual(most);
      expect(load.admitted / LIMIT).toBeGreaterThanOrEqual(LEAST);
      // Each notices most of the outages, once.
      expect(instances.failures - failures).toBeGreaterThan(TIMES);
      expect(instances.failures - failures).toBeLessThanOrEqual(2 * TIMES);
    });
  });
});

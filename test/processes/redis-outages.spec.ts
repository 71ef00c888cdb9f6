import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Instances } from '../support/instances.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith } from '../support/requirements.js';
import { SteadyLoad, limitedClient } from '../support/steady-load.js';

const LIMIT = 240;
/** Each share of what was left is rounded down. */
const LEAST = 0.85 * LIMIT;
/** Three instances use the limit up in four seconds: during the outage, or while only some of them are back. */
const PER_SECOND = 60;
/** So many requests were admitted when the outage begins. */
const USED_BEFORE = LIMIT / 3;
const OUTAGE_MS = 3_000;

const OUTAGES: readonly {
  readonly name: string;
  readonly begin: (redis: RedisServer) => Promise<unknown> | void;
  readonly end: (redis: RedisServer) => Promise<unknown> | void;
}[] = [
  {
    name: 'is killed for three seconds and returns empty',
    begin: (redis) => redis.kill(),
    end: (redis) => redis.start(),
  },
  {
    name: 'is killed for three seconds and returns with what it had',
    begin: (redis) => {
      redis.command('SAVE');
      return redis.kill();
    },
    end: (redis) => redis.start(),
  },
  {
    name: 'stands still for three seconds',
    begin: (redis) => redis.signal('SIGSTOP'),
    end: (redis) => redis.signal('SIGCONT'),
  },
];

describeWith(
  'redis-server',
  'three instances, a client that is spread evenly over them, and a Redis that',
  () => {
    let redis: RedisServer;
    let instances: Instances;
    beforeAll(async () => {
      redis = await RedisServer.start();
      // A machine that is busy is no fault that a test has asked for.
      instances = await Instances.start(3, { REDIS_URL: redis.url, REDIS_TIMEOUT_MS: '500' });
    });
    afterAll(async () => {
      await instances.close();
      await redis.remove();
    });

    const admittedThrough = async (outage: () => Promise<unknown> | void) => {
      await instances.untilInRedis();
      const load = new SteadyLoad(instances.all, (await limitedClient(instances, LIMIT)).key, PER_SECOND);
      await load.untilAdmitted(USED_BEFORE);
      await outage();
      await instances.untilInRedis();
      await load.untilRefused(PER_SECOND);
      await load.end();
      expect(load.unexpected).toEqual([]);
      return load.admitted;
    };

    it.each(OUTAGES)(
      '$name admits no more than 1.1 times the limit, and fails no request',
      async ({ begin, end }) => {
        const { failures } = instances;
        const admitted = await admittedThrough(async () => {
          await begin(redis);
          await setTimeout(OUTAGE_MS);
          await end(redis);
        });
        expect(instances.failures).toBeGreaterThanOrEqual(failures + 3);
        expect(admitted).toBeLessThanOrEqual(1.1 * LIMIT);
        expect(admitted).toBeGreaterThanOrEqual(LEAST);
      },
    );

    it('is flushed admits no more than 1.1 times the limit, and fails no request', async () => {
      const admitted = await admittedThrough(() => void redis.command('FLUSHALL'));
      expect(admitted).toBeLessThanOrEqual(1.1 * LIMIT);
      expect(admitted).toBeGreaterThanOrEqual(LIMIT);
    });
  },
);

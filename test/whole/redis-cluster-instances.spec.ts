import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestResponse } from '../kit/test-response.js';
import { makeDatabase } from '../kit/test-database.js';
import { Instances } from '../support/instances.js';
import { RedisClusterServers } from '../support/redis-groups.js';
import type { RedisServer } from '../support/redis-server.js';
import { describeWith } from '../support/requirements.js';
import { LEAST, limitedClient, exhaustQuotaDuring } from '../support/steady-load.js';

/** Where the heartbeats of the instances lie. */
const BEATS = 'petstore:quota:{shared}:beats';

describeWith('redis-server', 'on a Redis Cluster', () => {
  let cluster: RedisClusterServers;
  beforeAll(async () => {
    cluster = await RedisClusterServers.start();
  });
  afterAll(() => cluster.remove());

  describeWith('postgres', 'three instances', () => {
    let instances: Instances;
    let removeDatabase: () => Promise<unknown>;
    beforeAll(async () => {
      const { url, remove } = await makeDatabase('postgres');
      removeDatabase = remove;
      instances = await Instances.start(3, {
        DATABASE_URL: url,
        REDIS_URL: cluster.url,
        REDIS_TIMEOUT_MS: '500',
      });
      await instances.untilInRedis();
    });
    afterAll(async () => {
      await instances.close();
      await removeDatabase();
    });

    it('return no list from before a write that any of them acknowledged', async () => {
      const { key } = await limitedClient(instances, 100_000);
      const path = '/v1/pets?limit=100&status=pending';
      const lists = () => Promise.all(instances.all.map((one) => one.request('GET', path, { key })));
      const stale: number[] = [];
      for (let round = 0; round < 20; round += 1) {
        const pet = { name: 'Rex', categoryId: 1, status: 'pending' };
        const response = await instances.all[round % 3]?.request('POST', '/v1/pets', { key, json: pet });
        expect(response?.status).toBe(201);
        const id = response?.body.id as number;
        const isListed = ({ body }: TestResponse) => (body as { id: number }[]).some((one) => one.id === id);
        if (!(await lists()).every(isListed)) stale.push(id);
      }
      expect(stale).toEqual([]);
    });

    it('go on when the slot of the client moves to another master under load: no request fails, none counts twice', async () => {
      const { admitted, wrong } = await exhaustQuotaDuring(instances, (id) =>
        cluster.moveSlotOf(`petstore:quota:{:client:${id}}:`),
      );
      expect(wrong).toEqual([]);
      expect(admitted).toBeLessThanOrEqual(1);
      expect(admitted).toBeGreaterThanOrEqual(LEAST);
    });

    it.each([
      ['of the client', (id: string) => `petstore:quota:{:client:${id}}:`],
      ['of what the instances share', () => BEATS],
    ])(
      'go on when the master %s is killed under load: no request fails, and none counts twice',
      async (_, keyOf) => {
        let killed!: RedisServer;
        const failover = async (id: string) => {
          const { failures } = instances;
          killed = cluster.masterOf(keyOf(id));
          await killed.kill();
          await instances.untilAlone(failures);
          await instances.untilInRedis();
        };
        const { admitted, wrong } = await exhaustQuotaDuring(instances, failover);
        expect(wrong).toEqual([]);
        expect(admitted).toBeLessThanOrEqual(2);
        expect(admitted).toBeGreaterThanOrEqual(LEAST);
        await killed.start();
        await cluster.untilWhole();
      },
    );
  });
});

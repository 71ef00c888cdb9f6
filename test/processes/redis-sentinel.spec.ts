import { expect, it, onTestFinished } from 'vitest';
import { postgresOfTest } from '../support/databases.js';
import { Instances } from '../support/instances.js';
import { RedisSentinelServers } from '../support/redis-groups.js';
import { describeWith } from '../support/requirements.js';
import { LEAST, SteadyLoad, limitedClient, exhaustQuotaDuring } from '../support/steady-load.js';

describeWith('redis-server', 'two instances on a Sentinel group', () => {
  it('count exactly, and go on with its replica when the master is killed under load: no request fails', async () => {
    const group = await RedisSentinelServers.start();
    onTestFinished(() => group.remove());
    const instances = await Instances.start(2, {
      DATABASE_URL: await postgresOfTest(),
      REDIS_URL: group.url,
      REDIS_TIMEOUT_MS: '500',
    });
    onTestFinished(() => instances.close());
    await instances.untilInRedis();
    const exact = new SteadyLoad(instances.all, (await limitedClient(instances, 40)).key, 100);
    await exact.untilRefused(40);
    await exact.end();
    expect([exact.admitted, exact.unexpected]).toEqual([40, []]);

    const failover = async () => {
      await group.master.kill();
      await instances.untilAlone(0);
      await instances.untilInRedis();
      expect(group.replica.command('ROLE').split('\n')[0]).toBe('master');
    };
    const { id, limit, admitted, wrong } = await exhaustQuotaDuring(instances, failover);
    expect(wrong).toEqual([]);
    expect(admitted).toBeLessThanOrEqual(2);
    expect(admitted).toBeGreaterThanOrEqual(LEAST);
    const [counter = ''] = group.replica
      .command('KEYS', `petstore:quota:client:${id}:86400000:*`)
      .split('\n');
    expect(Number(group.replica.command('GET', counter))).toBeGreaterThanOrEqual(LEAST * limit);
  });
});

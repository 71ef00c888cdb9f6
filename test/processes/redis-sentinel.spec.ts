import { expect, it, onTestFinished } from 'vitest';
import { Instances } from '../support/instances.js';
import { RedisSentinelServers } from '../support/redis-groups.js';
import { describeWith } from '../support/requirements.js';
import { SteadyLoad, limitedClient } from '../support/steady-load.js';

const LIMIT = 180;
/** Each share of what was left is rounded down. */
const LEAST = 0.85 * LIMIT;
const PER_SECOND = 40;

describeWith('redis-server', 'two instances on a Sentinel group', () => {
  it('count exactly, and go on with its replica when the master is killed under load: no request fails', async () => {
    const group = await RedisSentinelServers.start();
    onTestFinished(() => group.remove());
    const instances = await Instances.start(2, { REDIS_URL: group.url, REDIS_TIMEOUT_MS: '500' });
    onTestFinished(() => instances.close());
    await instances.untilInRedis();
    const exact = new SteadyLoad(instances.all, (await limitedClient(instances, 40)).key, 100);
    await exact.untilRefused(PER_SECOND);
    await exact.end();
    expect([exact.admitted, exact.unexpected]).toEqual([40, []]);

    const { id, key } = await limitedClient(instances, LIMIT);
    const load = new SteadyLoad(instances.all, key, PER_SECOND);
    await load.untilAdmitted(LIMIT / 3);
    await group.master.kill();
    await instances.untilAlone(0);
    await instances.untilInRedis();
    expect(group.replica.command('ROLE').split('\n')[0]).toBe('master');
    await load.untilRefused(PER_SECOND);
    await load.end();
    expect(load.unexpected).toEqual([]);
    expect(load.admitted).toBeLessThanOrEqual(1.2 * LIMIT);
    expect(load.admitted).toBeGreaterThanOrEqual(LEAST);
    const [counter = ''] = group.replica
      .command('KEYS', `petstore:quota:client:${id}:86400000:*`)
      .split('\n');
    expect(Number(group.replica.command('GET', counter))).toBeGreaterThanOrEqual(LEAST);
    expect(instances.errors()).toEqual([]);
  });
});

import { spawn } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Instances } from '../support/instances.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith } from '../support/requirements.js';
import type { ServiceProcess } from '../support/service-process.js';
import { SteadyLoad, limitedClient } from '../support/steady-load.js';

const PER_SECOND = 100;
/** Four times the default of REDIS_TIMEOUT_MS. */
const PAUSE_MS = 200;

/** Pauses processes ten times, and lets them answer what has waited. */
async function pause(...processes: Pick<ServiceProcess, 'signal'>[]): Promise<void> {
  for (let times = 0; times < 10; times += 1) {
    for (const one of processes) one.signal('SIGSTOP');
    await setTimeout(PAUSE_MS);
    for (const one of processes) one.signal('SIGCONT');
    await setTimeout(PAUSE_MS);
  }
}

/** Has more processes compete for the processor than it has cores, for three seconds. */
async function compete(): Promise<void> {
  const busy = Array.from({ length: 4 }, () => spawn(process.execPath, ['-e', 'for (;;);']));
  await setTimeout(3_000);
  for (const one of busy) one.kill('SIGKILL');
}

describeWith('redis-server', 'an instance that Redis answers goes on counting there', () => {
  let redis: RedisServer;
  let instances: Instances;
  let key: string;
  beforeAll(async () => {
    redis = await RedisServer.start();
    instances = await Instances.start(1, { REDIS_URL: redis.url });
    ({ key } = await limitedClient(instances, 100_000));
  });
  afterAll(async () => {
    await instances.close();
    await redis.remove();
  });

  it.each<[string, (instance: ServiceProcess) => Promise<void>]>([
    ['while it is paused itself', (instance) => pause(instance)],
    ['while the machine of both is paused', (instance) => pause(redis, instance)],
    ['while others compete for the processor', compete],
  ])('%s', async (_, trouble) => {
    await instances.untilInRedis();
    const { failures } = instances;
    const load = new SteadyLoad(instances.all, key, PER_SECOND);
    await load.untilAdmitted(PER_SECOND / 2);
    await trouble(instances.all[0] as ServiceProcess);
    await load.end();
    expect([load.unexpected, instances.failures - failures]).toEqual([[], 0]);
  });
});

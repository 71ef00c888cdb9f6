import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestResponse } from '../kit/test-response.js';
import { makeDatabase } from '../kit/test-database.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith } from '../support/requirements.js';
import { clientWithKey, jsonHere } from '../support/petstore-here.js';
import { ServiceProcess, emptyFolder } from '../support/service-process.js';

describeWith('postgres', 'two instances on one PostgreSQL and one Redis', () => {
  let redis: RedisServer;
  let environment: Record<string, string>;
  let instances: readonly [ServiceProcess, ServiceProcess];
  let folder: string;
  let key: string;
  const closing: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    redis = await RedisServer.start();
    const database = await makeDatabase('postgres');
    const empty = await emptyFolder();
    folder = empty.path;
    environment = {
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      REDIS_TIMEOUT_MS: '1000',
      LOG_LEVEL: 'info',
    };
    const start = () => ServiceProcess.start(folder, environment);
    instances = await Promise.all([start(), start()]);
    closing.push(
      ...instances.map((one) => () => one.stop()),
      () => redis.remove(),
      database.remove,
      empty.remove,
    );
    ({ key } = await clientWithKey(folder, environment));
  });
  afterAll(async () => {
    for (const close of closing) await close();
  });

  const read = (path: string, by = key) =>
    Promise.all(instances.map((instance) => instance.request('GET', path, { key: by })));
  const add = (instance: ServiceProcess, name: string, status: string) =>
    instance.request('POST', '/v1/pets', { key, json: { name, categoryId: 1, status } });
  const has = ({ body }: TestResponse, name: string) =>
    (body as { name: string }[]).some((pet) => pet.name === name);

  it('migrated once, and made one demo client', async () => {
    expect(instances.filter(({ output }) => output.includes('pst_test_'))).toHaveLength(1);
    expect(instances.filter(({ output }) => /"level":[56]0/.test(output))).toEqual([]);
    expect(await jsonHere(folder, ['client', 'list', '--name', 'Demo'], environment)).toHaveLength(1);
  });

  it('return no list from before a write that any of them acknowledged', async () => {
    const path = '/v1/pets?limit=100&status=pending';
    const stale: string[] = [];
    for (let round = 0; round < 60; round += 1) {
      const name = randomUUID();
      expect((await add(instances[round % 2 === 0 ? 0 : 1], name, 'pending')).status).toBe(201);
      if (!(await read(path)).every((list) => has(list, name))) stale.push(name);
    }
    expect(stale).toEqual([]);
  });

  it('return no list from before a write that one acknowledged right before it was killed', async () => {
    const path = '/v1/pets?limit=100&status=sold';
    const acknowledged: string[] = [];
    const dying = await ServiceProcess.start(folder, environment);
    const post = async () => {
      const name = randomUUID();
      if ((await add(dying, name, 'sold')).status === 201) acknowledged.push(name);
    };
    await read(path);
    for (let written = 0; written < 6; written += 1) await post();
    const last = Promise.allSettled(Array.from({ length: 8 }, post));
    await post().catch(() => undefined);
    await dying.stop('SIGKILL');
    await last;
    for (const list of await read(path)) expect(acknowledged.filter((name) => !has(list, name))).toEqual([]);
    expect(acknowledged.length).toBeGreaterThanOrEqual(6);
  });

  it('return no list from before a write while Redis is down, nor after it has returned empty', async () => {
    const path = '/v1/pets?limit=100&status=sold';
    const written = async (by: ServiceProcess) => {
      const name = randomUUID();
      await read(path);
      expect((await add(by, name, 'sold')).status).toBe(201);
      return (await read(path)).map((list) => has(list, name));
    };
    await redis.kill();
    for (const instance of instances) expect(await written(instance)).toEqual([true, true]);
    await redis.start();
    for (const instance of instances) expect(await written(instance)).toEqual([true, true]);
  });
});

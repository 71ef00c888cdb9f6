import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Answer, nextPageOf } from '../kit/answer.js';
import { makeDatabase } from '../kit/test-database.js';
import { NetworkProxy } from '../support/network-proxy.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith } from '../support/requirements.js';
import { clientWithKey } from '../support/petstore-here.js';
import { ServiceProcess, emptyFolder } from '../support/service-process.js';

describeWith('postgres', 'of two instances on one PostgreSQL, one that has lost Redis', () => {
  let caching: ServiceProcess;
  let writing: ServiceProcess;
  let server: pg.Client;
  let key: string;
  const closing: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    const redis = await RedisServer.start();
    const proxy = await NetworkProxy.to(Number(new URL(redis.url).port));
    const database = await makeDatabase('postgres');
    const { path, remove } = await emptyFolder();
    const environment = { DATABASE_URL: database.url, REDIS_URL: redis.url };
    caching = await ServiceProcess.start(path, environment);
    writing = await ServiceProcess.start(path, {
      ...environment,
      REDIS_URL: `redis://127.0.0.1:${proxy.port}`,
    });
    server = new pg.Client({ connectionString: database.url });
    await server.connect();
    closing.push(
      () => caching.stop(),
      () => writing.stop(),
      () => server.end(),
      () => redis.remove(),
      database.remove,
      remove,
    );
    ({ key } = await clientWithKey(path, environment));
    await proxy.close();
    await vi.waitFor(() => expect(writing.output).toContain('Redis failed'), 60_000);
  });
  afterAll(async () => {
    for (const close of closing) await close();
  });

  /** The names of all animals that the instance with Redis lists by a status. */
  const listed = async (status: string) => {
    const names = new Set<string>();
    for (let path: string | undefined = `/v1/pets?limit=100&status=${status}`; path !== undefined;) {
      const { headers, body }: Answer = await caching.request('GET', path, { key });
      for (const { name } of body as { name: string }[]) names.add(name);
      path = nextPageOf(headers);
    }
    return names;
  };
  /** Adds an animal by the instance without Redis; undefined where it refuses. */
  const added = async (status: string) => {
    const name = randomUUID();
    const json = { name, categoryId: 1, status };
    return (await writing.request('POST', '/v1/pets', { key, json })).status === 201 ? name : undefined;
  };

  it.each([0, 2_800])('shows what it acknowledged in the next list of the other, %i ms later', async (ms) => {
    await pause(3_000);
    await listed('pending');
    const name = await added('pending');
    expect(name).toBeDefined();
    await pause(ms);
    expect(await listed('pending')).toContain(name);
  });

  it.each([
    [
      'its connection is ended by which it says so',
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'petstore, instance'`,
    ],
    ['what it says is lost, as after a failover', `DELETE FROM instance_notices`],
  ])('shows it also when %s', async (_, sql) => {
    const missing: string[] = [];
    let acknowledged = 0;
    for (let round = 0; round < 20; round += 1) {
      await listed('sold');
      if (round % 7 === 3) await server.query(sql);
      await Promise.all([listed('sold'), listed('sold')]);
      const name = await added('sold');
      if (name === undefined) continue;
      acknowledged += 1;
      if (!(await listed('sold')).has(name)) missing.push(name);
    }
    expect([missing, acknowledged > 13]).toEqual([[], true]);
  });
});

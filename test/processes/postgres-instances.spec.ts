import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Answer, nextPageOf } from '../kit/answer.js';
import { makeDatabase } from '../kit/test-database.js';
import { NetworkProxy } from '../support/network-proxy.js';
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
  /** A session in the database. */
  let server: pg.Client;
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
      // A test holds a write up while Redis restarts.
      DATABASE_STATEMENT_TIMEOUT_MS: '30000',
      LOG_LEVEL: 'info',
    };
    const start = () => ServiceProcess.start(folder, environment);
    instances = await Promise.all([start(), start()]);
    server = new pg.Client({ connectionString: database.url });
    await server.connect();
    closing.push(
      () => server.end(),
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

  const administer = (...args: string[]) => jsonHere(folder, args, environment);
  const read = (path: string, by = key) =>
    Promise.all(instances.map((instance) => instance.request('GET', path, { key: by })));
  const add = (instance: ServiceProcess, name: string, status: string) =>
    instance.request('POST', '/v1/pets', { key, json: { name, categoryId: 1, status } });
  const has = ({ body }: Answer, name: string) =>
    (body as { name: string }[]).some((pet) => pet.name === name);

  it('migrated once, and made one demo client', async () => {
    expect(instances.filter(({ output }) => output.includes('pst_test_'))).toHaveLength(1);
    expect(instances.filter(({ output }) => /"level":[56]0/.test(output))).toEqual([]);
    expect(await jsonHere(folder, ['client', 'list', '--name', 'Demo'], environment)).toHaveLength(1);
  });

  it('answer no list from before a write that was acknowledged by any of them', async () => {
    const path = '/v1/pets?limit=100&status=pending';
    const stale: string[] = [];
    for (let round = 0; round < 60; round += 1) {
      const name = randomUUID();
      expect((await add(instances[round % 2 === 0 ? 0 : 1], name, 'pending')).status).toBe(201);
      if (!(await read(path)).every((list) => has(list, name))) stale.push(name);
    }
    expect(stale).toEqual([]);
  });

  it('answer what they have cached without the database', async () => {
    const path = '/v1/pets?limit=9';
    await read(path);
    await server.query('BEGIN');
    // A read that reached the table would wait until the lock is free, and be refused after 4 s.
    await server.query('LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const answers = await read(path);
    await server.query('ROLLBACK');
    expect(answers.map(({ status }) => status)).toEqual(instances.map(() => 200));
  });

  it('answer no list from before what one acknowledged that was killed right after it', async () => {
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

  it('answer no list from before a write during which Redis was killed and came back empty', async () => {
    const path = '/v1/pets?limit=100&status=sold';
    const inRedis = () => instances.map(({ output }) => output.split('Quotas are counted in Redis').length);
    const before = inRedis();
    // The COMMIT, before which the name is withdrawn, waits for a lock that the test holds.
    await server.query(`CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN PERFORM pg_advisory_xact_lock_shared(77); RETURN NULL; END'`);
    await server.query(`CREATE CONSTRAINT TRIGGER waits AFTER INSERT ON pets DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION wait()`);
    await server.query('SELECT pg_advisory_lock(77)');
    const name = randomUUID();
    const written = add(instances[0], name, 'sold');
    const isNamed = () => redis.command('HEXISTS', 'petstore:quota:states', 'responses') === '1';
    await expect.poll(isNamed, { timeout: 10_000 }).toBe(false);
    await redis.kill();
    await redis.start();
    await expect
      .poll(() => inRedis().every((lines, at) => lines > (before[at] ?? 0)) && isNamed(), { timeout: 20_000 })
      .toBe(true);
    for (const { status } of [...(await read(path)), ...(await read(path))]) expect(status).toBe(200);
    await server.query('SELECT pg_advisory_unlock(77)');
    expect((await written).status).toBe(201);
    expect((await read(path)).map((list) => has(list, name))).toEqual(instances.map(() => true));
    await server.query('DROP TRIGGER waits ON pets');
  });

  it('refuse a key with the next request after its revocation by the command line, and limit by a new plan', async () => {
    const { clientId, id, key: own } = await clientWithKey(folder, environment, ['--plan', 'free']);
    const told = async () =>
      (await read('/v1/pets?limit=1', own)).map(({ status, headers }) => [
        status,
        headers.get('X-RateLimit-Limit'),
      ]);
    expect(await told()).toEqual(instances.map(() => [200, '60']));
    await administer('client', 'set-plan', clientId, '--plan', 'pro');
    expect(await told()).toEqual(instances.map(() => [200, '300']));
    await administer('key', 'revoke', id, '--yes');
    expect((await told()).map(([status]) => status)).toEqual(instances.map(() => 401));
  });

  describe('and a third one that has lost Redis', () => {
    let writing: ServiceProcess;
    beforeAll(async () => {
      const proxy = await NetworkProxy.to(Number(new URL(redis.url).port));
      const REDIS_URL = `redis://127.0.0.1:${proxy.port}`;
      writing = await ServiceProcess.start(folder, { ...environment, REDIS_URL });
      closing.unshift(() => writing.stop());
      await proxy.close();
      await vi.waitFor(() => expect(writing.output).toContain('Redis failed'), 60_000);
    });

    /** The names of all animals that the instance with Redis lists by a status. */
    const listed = async (status: string) => {
      const names = new Set<string>();
      for (let path: string | undefined = `/v1/pets?limit=100&status=${status}`; path !== undefined;) {
        const { headers, body }: Answer = await instances[0].request('GET', path, { key });
        for (const { name } of body as { name: string }[]) names.add(name);
        path = nextPageOf(headers);
      }
      return names;
    };
    /** Adds an animal by the instance without Redis; undefined where it refuses. */
    const added = async (status: string) => {
      const name = randomUUID();
      return (await add(writing, name, status)).status === 201 ? name : undefined;
    };

    it.each([0, 2_800])('shows what it acknowledged in the next list of another, %i ms later', async (ms) => {
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
});

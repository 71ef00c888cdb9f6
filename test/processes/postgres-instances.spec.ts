import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { makeDatabase } from '../kit/test-database.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith } from '../support/requirements.js';
import { petstoreHere as petstore } from '../support/petstore-here.js';
import { ServiceProcess, emptyFolder } from '../support/service-process.js';

const INSTANCES = 2;
const all = Array.from({ length: INSTANCES }, (_, instance) => instance);

describeWith('postgres', 'two instances on one PostgreSQL and one Redis', () => {
  let redis: RedisServer;
  let environment: Record<string, string>;
  let instances: ServiceProcess[];
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
      // A test holds a write up while Redis restarts.
      DATABASE_STATEMENT_TIMEOUT_MS: '30000',
      LOG_LEVEL: 'info',
    };
    instances = await Promise.all(
      Array.from({ length: INSTANCES }, () => ServiceProcess.start(folder, environment)),
    );
    closing.push(
      ...instances.map((one) => () => one.stop()),
      () => redis.remove(),
      database.remove,
      empty.remove,
    );
    key = await issue(
      await makeClient('--plan', 'enterprise', '--per-minute', '1000000', '--per-day', '100000000'),
    );
  });
  afterAll(async () => {
    for (const close of closing) await close();
  });

  const administer = async (...args: string[]) => {
    const { code, stdout, stderr } = await petstore(folder, [...args, '--json'], environment);
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout) as { id: string; key: string };
  };
  const makeClient = async (...args: string[]) =>
    (await administer('client', 'create', '--name', 'Shop', ...args)).id;
  const issue = async (client: string) => (await administer('key', 'issue', '--client', client)).key;
  const ask = async (instance: number, method: string, path: string, body?: object, bearer = key) => {
    const response = await fetch(`${instances[instance]?.url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${bearer}`, 'Content-Type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as { id: number; name: string }[] & { id: number; code: string },
    };
  };

  it('migrated once, and made one demo client', async () => {
    expect(instances.filter(({ output }) => output.includes('pst_test_'))).toHaveLength(1);
    expect(instances.filter(({ output }) => /"level":[56]0/.test(output))).toEqual([]);
    const { stdout } = await petstore(folder, ['client', 'list', '--json'], environment);
    expect((JSON.parse(stdout) as { name: string }[]).filter(({ name }) => name === 'Demo')).toHaveLength(1);
  });

  it('answer no list from before a write that was acknowledged by any of them', async () => {
    const path = '/v1/pets?limit=100&status=pending';
    const stale: string[] = [];
    for (let round = 0; round < 60; round += 1) {
      const name = randomUUID();
      const animal = { name, categoryId: 1, status: 'pending' };
      expect((await ask(round % INSTANCES, 'POST', '/v1/pets', animal)).status).toBe(201);
      const lists = await Promise.all(all.map((instance) => ask(instance, 'GET', path)));
      if (!lists.every(({ body }) => body.some((pet) => pet.name === name))) stale.push(name);
    }
    expect(stale).toEqual([]);
  });

  it('answer what they have cached without the database', async () => {
    const client = new pg.Client({ connectionString: environment['DATABASE_URL'] });
    await client.connect();
    const path = '/v1/pets?limit=9';
    for (const instance of all) await ask(instance, 'GET', path);
    await client.query('BEGIN');
    // A read that reached the table would wait until the lock is free, and be refused after 4 s.
    await client.query('LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const answers = await Promise.all(all.map((instance) => ask(instance, 'GET', path)));
    await client.query('ROLLBACK');
    await client.end();
    expect(answers.map(({ status }) => status)).toEqual(all.map(() => 200));
  });

  it('answer no list from before what one acknowledged that was killed right after it', async () => {
    const path = '/v1/pets?limit=100&status=sold';
    const acknowledged: string[] = [];
    const dying = await ServiceProcess.start(folder, environment);
    const post = async () => {
      const name = randomUUID();
      const response = await fetch(`${dying.url}/v1/pets`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ name, categoryId: 1, status: 'sold' }),
      });
      if (response.status === 201) acknowledged.push(name);
    };
    await Promise.all(all.map((instance) => ask(instance, 'GET', path)));
    for (let written = 0; written < 6; written += 1) await post();
    const last = Promise.allSettled(Array.from({ length: 8 }, post));
    await post().catch(() => undefined);
    await dying.stop('SIGKILL');
    await last;
    const lists = await Promise.all(all.map((instance) => ask(instance, 'GET', path)));
    for (const { body } of lists) {
      const names = new Set(body.map(({ name }) => name));
      expect(acknowledged.filter((name) => !names.has(name))).toEqual([]);
    }
    expect(acknowledged.length).toBeGreaterThanOrEqual(6);
  });

  it('answer no list from before a write during which Redis was killed and came back empty', async () => {
    const path = '/v1/pets?limit=100&status=sold';
    const inRedis = () => instances.map(({ output }) => output.split('Quotas are counted in Redis').length);
    const before = inRedis();
    const client = new pg.Client({ connectionString: environment['DATABASE_URL'] });
    await client.connect();
    onTestFinished(() => client.end());
    // The COMMIT, before which the name is withdrawn, waits for a lock that the test holds.
    await client.query(`CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN PERFORM pg_advisory_xact_lock_shared(77); RETURN NULL; END'`);
    await client.query(`CREATE CONSTRAINT TRIGGER waits AFTER INSERT ON pets DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION wait()`);
    await client.query('SELECT pg_advisory_lock(77)');
    const name = randomUUID();
    const written = ask(0, 'POST', '/v1/pets', { name, categoryId: 1, status: 'sold' });
    const isNamed = () => redis.command('HEXISTS', 'petstore:quota:states', 'responses') === '1';
    await expect.poll(isNamed, { timeout: 10_000 }).toBe(false);
    await redis.kill();
    await redis.start();
    await expect
      .poll(() => inRedis().every((lines, at) => lines > (before[at] ?? 0)) && isNamed(), { timeout: 20_000 })
      .toBe(true);
    for (const instance of [...all, ...all]) expect((await ask(instance, 'GET', path)).status).toBe(200);
    await client.query('SELECT pg_advisory_unlock(77)');
    expect((await written).status).toBe(201);
    const lists = await Promise.all(all.map((instance) => ask(instance, 'GET', path)));
    expect(lists.map(({ body }) => body.some((pet) => pet.name === name))).toEqual(all.map(() => true));
    await client.query('DROP TRIGGER waits ON pets');
  });

  it('refuse a key with the next request after its revocation by the command line, and limit by a new plan', async () => {
    const client = await makeClient('--plan', 'free');
    const { id, key: own } = await administer('key', 'issue', '--client', client);
    const told = async () => {
      const answers = await Promise.all(
        all.map((instance) => ask(instance, 'GET', '/v1/pets?limit=1', undefined, own)),
      );
      return answers.map(({ status, headers }) => [status, headers.get('X-RateLimit-Limit')]);
    };
    expect(await told()).toEqual(all.map(() => [200, '60']));
    await administer('client', 'set-plan', client, '--plan', 'pro');
    expect(await told()).toEqual(all.map(() => [200, '300']));
    await administer('key', 'revoke', id, '--yes');
    expect((await told()).map(([status]) => status)).toEqual(all.map(() => 401));
  });
});

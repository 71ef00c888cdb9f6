import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { Answer } from '../kit/answer.js';
import { makeDatabase } from '../kit/test-database.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith } from '../support/requirements.js';
import { petstoreHere as petstore } from '../support/petstore-here.js';
import { ServiceProcess, emptyFolder } from '../support/service-process.js';

const INSTANCES = 2;

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
  const read = (path: string, by = key) =>
    Promise.all(instances.map((instance) => instance.request('GET', path, { key: by })));
  const add = (instance: ServiceProcess | undefined, name: string, status: string) =>
    instance?.request('POST', '/v1/pets', { key, json: { name, categoryId: 1, status } });
  const has = ({ body }: Answer, name: string) =>
    (body as { name: string }[]).some((pet) => pet.name === name);

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
      expect((await add(instances[round % INSTANCES], name, 'pending'))?.status).toBe(201);
      if (!(await read(path)).every((list) => has(list, name))) stale.push(name);
    }
    expect(stale).toEqual([]);
  });

  it('answer what they have cached without the database', async () => {
    const client = new pg.Client({ connectionString: environment['DATABASE_URL'] });
    await client.connect();
    const path = '/v1/pets?limit=9';
    await read(path);
    await client.query('BEGIN');
    // A read that reached the table would wait until the lock is free, and be refused after 4 s.
    await client.query('LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const answers = await read(path);
    await client.query('ROLLBACK');
    await client.end();
    expect(answers.map(({ status }) => status)).toEqual(instances.map(() => 200));
  });

  it('answer no list from before what one acknowledged that was killed right after it', async () => {
    const path = '/v1/pets?limit=100&status=sold';
    const acknowledged: string[] = [];
    const dying = await ServiceProcess.start(folder, environment);
    const post = async () => {
      const name = randomUUID();
      if ((await add(dying, name, 'sold'))?.status === 201) acknowledged.push(name);
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
    const written = add(instances[0], name, 'sold');
    const isNamed = () => redis.command('HEXISTS', 'petstore:quota:states', 'responses') === '1';
    await expect.poll(isNamed, { timeout: 10_000 }).toBe(false);
    await redis.kill();
    await redis.start();
    await expect
      .poll(() => inRedis().every((lines, at) => lines > (before[at] ?? 0)) && isNamed(), { timeout: 20_000 })
      .toBe(true);
    for (const { status } of [...(await read(path)), ...(await read(path))]) expect(status).toBe(200);
    await client.query('SELECT pg_advisory_unlock(77)');
    expect((await written)?.status).toBe(201);
    expect((await read(path)).map((list) => has(list, name))).toEqual(instances.map(() => true));
    await client.query('DROP TRIGGER waits ON pets');
  });

  it('refuse a key with the next request after its revocation by the command line, and limit by a new plan', async () => {
    const client = await makeClient('--plan', 'free');
    const { id, key: own } = await administer('key', 'issue', '--client', client);
    const told = async () =>
      (await read('/v1/pets?limit=1', own)).map(({ status, headers }) => [
        status,
        headers.get('X-RateLimit-Limit'),
      ]);
    expect(await told()).toEqual(instances.map(() => [200, '60']));
    await administer('client', 'set-plan', client, '--plan', 'pro');
    expect(await told()).toEqual(instances.map(() => [200, '300']));
    await administer('key', 'revoke', id, '--yes');
    expect((await told()).map(([status]) => status)).toEqual(instances.map(() => 401));
  });
});

import { DataSource } from 'typeorm';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { openDataSource } from '../../../src/database/data-source.js';
import type { PostgresDataSource } from '../../../src/database/postgres/postgres-data-source.js';
import { ResponseCache } from '../../../src/http/caching/response-cache.js';
import { type MadeDatabase, makeDatabase } from '../../kit/test-database.js';
import { TestService } from '../../kit/test-service.js';
import { RedisServer } from '../../support/redis-server.js';
import { describeWith } from '../../support/requirements.js';

/** Tables of another feature; a pet of an owner goes with its owner, and each bell renames the pets. */
const TABLES = `
  CREATE TABLE toys (id int);
  CREATE TABLE owners (id int PRIMARY KEY, name text);
  
  ALTER TABLE pets ADD owner_id int REFERENCES owners ON DELETE CASCADE;
  CREATE TABLE bells (id int);
  CREATE FUNCTION ring() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE pets SET name = 'Rung'; RETURN NULL; END $$;
  CREATE TRIGGER ring AFTER INSERT ON bells EXECUTE FUNCTION ring();
  CREATE TABLE parts (id int) PARTITION BY RANGE (id);
  CREATE TABLE some_parts PARTITION OF parts DEFAULT;
  CREATE TABLE secrets (id int);
  ALTER TABLE secrets ENABLE ROW LEVEL SECURITY`;

describeWith('redis-server', 'a list that one of two instances has cached', () => {
  let redis: RedisServer;
  let made: MadeDatabase;
  let one: TestService;
  let other: TestService;

  beforeAll(async () => {
    redis = await RedisServer.start();
    made = await makeDatabase('postgres');
    const environment = { REDIS_URL: redis.url, REDIS_TIMEOUT_MS: '2000', DATABASE_URL: made.url };
    const limits = { perMinute: 100_000, perDay: 100_000 };
    one = await TestService.open({ plan: 'enterprise', limits, environment });
    other = await TestService.open({ environment });
    const database = other.app.get(DataSource) as PostgresDataSource;
    await database.query(TABLES);
    // As when it is opened.
    await database.changed.read();
    for (const service of [one, other])
      await vi.waitFor(async () => expect(await service.metric('petstore_quota_redis_up')).toBe(1), 60_000);
    // The name of a table comes along from its first list on.
    await vi.waitFor(async () => {
      await database.query('INSERT INTO "toys" VALUES (0)');
      expect((await list()).isCached).toBe(true);
    }, 60_000);
  });
  afterAll(async () => {
    await one.close();
    await other.close();
    await made.remove();
    await redis.remove();
  });

  /** Whether the next list is answered from the cache, and the list. */
  const list = async () => {
    const { use } = one.app.get(ResponseCache);
    const { hits } = use;
    const { body } = await one.request('GET', '/v1/pets');
    return { isCached: use.hits > hits, names: (body as { name: string }[]).map(({ name }) => name) };
  };

  it.each<[statement: string, isKept: boolean, sql: string[]]>([
    ['inserts into another table', true, ['INSERT INTO "toys" VALUES (1)']],
    ['changes others in a transaction', true, ['UPDATE "toys" SET id = 2', 'DELETE FROM "toys"']],
    ['writes nothing but reads', true, ['SELECT 1', 'SELECT count(*) FROM "pets"']],
    ['reads by a WITH', true, ['WITH RECURSIVE one AS (SELECT 1) SELECT * FROM one']],
    [
      'adds a row that those of its table may refer to',
      true,
      ['INSERT INTO "owners" VALUES (4) ON CONFLICT DO NOTHING'],
    ],
    ['changes such a row', true, ['UPDATE "owners" SET name = $$Ann$$']],
    ['changes its table', false, [`UPDATE "pets" SET name = 'Renamed'`]],
    ['changes its table among others', false, ['DELETE FROM "toys"', `UPDATE "pets" SET name = 'Again'`]],
    ['deletes what its rows refer to', false, ['DELETE FROM "owners" WHERE id = 2']],
    ['inserts where a trigger changes its table', false, ['INSERT INTO "bells" VALUES (1)']],
    ['inserts into partitions', false, ['INSERT INTO "parts" VALUES (1)']],
    [
      'changes its table within another statement',
      false,
      [`INSERT INTO "toys" WITH changed AS (SELECT 1) SELECT 3; UPDATE "pets" SET name = 'Third'`],
    ],
    [
      'changes its table in a WITH',
      false,
      [`WITH gone AS (UPDATE "pets" SET name = 'With' RETURNING 1) INSERT INTO "toys" SELECT 1 FROM gone`],
    ],
    ['changes its table behind a SELECT', false, [`SELECT 1; UPDATE "pets" SET name = 'Behind'`]],
    ['explains a change that it makes', false, [`EXPLAIN ANALYZE UPDATE "pets" SET name = 'Explained'`]],
    [
      'explains one by the other spelling',
      false,
      [`EXPLAIN ANALYSE UPDATE "pets" SET name = 'Explained again'`],
    ],
    ['inserts under row security', false, ['INSERT INTO "secrets" VALUES (1)']],
    ['names the schema', false, [`UPDATE "public"."pets" SET name = 'Schema'`]],
  ])('is read anew where the other %s: kept %s', async (_, isKept, statements) => {
    const { manager: writer } = other.app.get(DataSource);
    await writer.query('INSERT INTO "owners" VALUES (2), (3) ON CONFLICT DO NOTHING');
    await writer.query(
      `INSERT INTO "pets" (name, category_id, status, owner_id) VALUES ('Rex', 1, 'available', 2)`,
    );
    await expect.poll(async () => (await list()).isCached).toBe(true);
    await writer.transaction(async (manager) => {
      for (const sql of statements) await manager.query(sql);
    });
    const next = await list();
    expect(next.isCached).toBe(isKept);
    const now = await one.app.get(DataSource).query<{ name: string }[]>('SELECT name FROM pets ORDER BY id');
    expect(next.names).toEqual(now.map(({ name }) => name));
  });

  it('is read anew where a function of the database may change anything', async () => {
    const database = other.app.get(DataSource);
    await database.query(
      `CREATE FUNCTION rename_all() RETURNS int LANGUAGE sql AS $$ UPDATE pets SET name = 'By function' RETURNING 1 $$`,
    );
    await (database as PostgresDataSource).changed.read();
    for (const sql of ['INSERT INTO "toys" VALUES (rename_all())', 'SELECT rename_all()']) {
      await database.query(`UPDATE pets SET name = 'By hand'`);
      await expect.poll(async () => (await list()).isCached).toBe(true);
      await database.query(sql);
      expect(await list()).toMatchObject({ isCached: false, names: expect.arrayContaining(['By function']) });
    }
    await database.query('DROP FUNCTION rename_all');
    await (database as PostgresDataSource).changed.read();
  });

  it('is read anew where a migration of another process has made a table change more', async () => {
    const database = other.app.get(DataSource);
    await database.query('CREATE TABLE gongs (id int)');
    await (database as PostgresDataSource).changed.read();
    await vi.waitFor(async () => {
      await database.query('INSERT INTO "gongs" VALUES (0)');
      expect((await list()).isCached).toBe(true);
    }, 60_000);
    const migrating = await openDataSource({ databaseUrl: made.url });
    await migrating.query('CREATE TRIGGER ring AFTER INSERT ON gongs EXECUTE FUNCTION ring()');
    await migrating.destroy();
    await expect.poll(async () => (await list()).isCached).toBe(true);
    await database.query(`UPDATE pets SET name = 'Not rung'`);
    await expect.poll(async () => (await list()).isCached).toBe(true);
    await database.query('INSERT INTO "gongs" VALUES (1)');
    expect((await list()).names).toContain('Rung');
  });

  it('holds no key that a trigger on the table has revoked', async () => {
    const database = other.app.get(DataSource);
    const { id, key } = await one.issueKey();
    await database.query(`CREATE FUNCTION revoke() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      UPDATE api_keys SET revoked_at = '2026-01-01T00:00:00.000Z' WHERE id = '${id}'; RETURN NULL; END $$`);
    await database.query('CREATE TRIGGER revoke AFTER INSERT ON pets EXECUTE FUNCTION revoke()');
    await (database as PostgresDataSource).changed.read();
    expect((await one.request('GET', '/v1/pets', { key })).status).toBe(200);
    await other.request('POST', '/v1/pets', { json: { name: 'Last', categoryId: 1 } });
    expect((await one.request('GET', '/v1/pets', { key })).status).toBe(401);
  });
});

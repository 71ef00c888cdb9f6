import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { DataVersion } from '../../../src/database/data-version.js';
import { ResponseCache } from '../../../src/http/caching/response-cache.js';
import { TestService } from '../../kit/test-service.js';
import { Attack, shareVersions } from '../../support/attack-on-lists.js';
import { UNLIMITED } from '../../support/opened.js';
import { PostgresServer } from '../../support/postgres-server.js';
import { describeWith } from '../../support/requirements.js';

/** Tables of another feature: a pet of an owner goes with its owner, each bell renames the pets, and a part is in a partition. */
const TABLES = `
  CREATE TABLE toys (id int);
  CREATE TABLE owners (id int PRIMARY KEY);
  ALTER TABLE pets ADD owner_id int REFERENCES owners ON DELETE CASCADE;
  CREATE TABLE bells (id int);
  CREATE FUNCTION ring() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE pets SET name = 'Rung'; RETURN NULL; END $$;
  CREATE TRIGGER ring AFTER INSERT ON bells EXECUTE FUNCTION ring();
  CREATE FUNCTION rename_all() RETURNS int LANGUAGE sql AS $$ UPDATE pets SET name = 'By function' RETURNING 1 $$;
  CREATE EXTENSION dblink`;

describeWith('postgres-server', 'a list that one of two instances has cached', () => {
  let server: PostgresServer;
  let one: TestService;
  let other: TestService;
  /** A program alongside the instances. */
  let sql: pg.Client;

  beforeAll(async () => {
    server = await PostgresServer.start();
    await server.stop('fast');
    await server.start('max_prepared_transactions=16');
    const environment = { DATABASE_URL: server.url };
    one = await TestService.open({ ...UNLIMITED, environment });
    other = await TestService.open({ environment });
    sql = new pg.Client({ connectionString: server.url });
    await sql.connect();
    await sql.query(TABLES);
  });
  afterAll(async () => {
    await sql.end();
    await other.close();
    await one.close();
    await server.remove();
  });

  /** Whether the next list is served from the cache, and the names in it. */
  const list = async (path = '/v1/pets?limit=100') => {
    const { use } = one.app.get(ResponseCache);
    const { hits } = use;
    const { body } = await one.request('GET', path);
    return { isCached: use.hits > hits, names: (body as { name: string }[]).map(({ name }) => name) };
  };
  const untilCached = async (path?: string) => {
    await expect.poll(async () => (await list(path)).isCached).toBe(true);
  };
  const namesNow = async () =>
    (await sql.query<{ name: string }>('SELECT name FROM pets ORDER BY id')).rows.map(({ name }) => name);
  const addedPet = async () => {
    await sql.query('INSERT INTO owners VALUES (2) ON CONFLICT DO NOTHING');
    const { rows } = await sql.query<{ id: string }>(
      `INSERT INTO pets (name, category_id, status, owner_id) VALUES ('Rex', 1, 'available', 2) RETURNING id`,
    );
    return rows[0]?.id ?? '';
  };

  it.each<[what: string, change: (id: string) => Promise<unknown>]>([
    ['adds a row', () => other.request('POST', '/v1/pets', { json: { name: 'New', categoryId: 1 } })],
    [
      'changes rows in a transaction of its own',
      () => other.app.get(DataSource).transaction((manager) => manager.query(`UPDATE pets SET name = 'Own'`)),
    ],
    [
      'changes rows in a nested transaction',
      () =>
        other.app
          .get(DataSource)
          .transaction((outer) =>
            outer.transaction((inner) => inner.query(`UPDATE pets SET name = 'Nested'`)),
          ),
    ],
  ])('is read again after the other %s', async (_, change) => {
    const id = await addedPet();
    await untilCached();
    await change(id);
    expect((await list()).names).toEqual(await namesNow());
  });

  it.each<[what: string, statements: readonly string[]]>([
    ['an UPDATE', [`UPDATE pets SET name = 'Renamed'`]],
    ['a DELETE', ['DELETE FROM pets WHERE id % 2 = 0']],
    ['a TRUNCATE', ['TRUNCATE pets']],
    ['a cascade of a foreign key', ['DELETE FROM owners WHERE id = 2']],
    ['a trigger', ['INSERT INTO bells VALUES (1)']],
    ['a function in a SELECT', ['SELECT rename_all()']],
    ['a WITH', [`WITH gone AS (UPDATE pets SET name = 'With' RETURNING 1) SELECT * FROM gone`]],
    [
      'another session of the server',
      [
        `SELECT dblink_exec('port=PORT user=petstore host=127.0.0.1 dbname=postgres', 'UPDATE pets SET name = $$Linked$$')`,
      ],
    ],
    ['a statement without a commit of its own', ['BEGIN', `UPDATE pets SET name = 'Explicit'`, 'COMMIT']],
    ['a released savepoint', ['BEGIN', 'SAVEPOINT a', `UPDATE pets SET name = 'Sub'`, 'RELEASE a', 'COMMIT']],
    [
      'one beside an undone savepoint',
      [
        'BEGIN',
        `UPDATE pets SET name = 'Kept'`,
        'SAVEPOINT a',
        `UPDATE pets SET name = 'Undone'`,
        'ROLLBACK TO a',
        'COMMIT',
      ],
    ],
    [
      'a prepared transaction',
      ['BEGIN', `UPDATE pets SET name = 'Prepared'`, `PREPARE TRANSACTION 'p'`, `COMMIT PREPARED 'p'`],
    ],
    [
      'a change of the schema',
      ['ALTER TABLE pets RENAME TO animals', 'CREATE VIEW pets AS SELECT * FROM animals LIMIT 0'],
    ],
    ['its end', ['DROP VIEW pets', 'ALTER TABLE animals RENAME TO pets']],
  ])('is read again after %s of another program', async (_, statements) => {
    if (!statements[0]?.startsWith('DROP')) await addedPet();
    await untilCached();
    for (const statement of statements) await sql.query(statement.replace('PORT', String(server.port)));
    expect((await list()).names).toEqual(await namesNow());
    await untilCached();
    expect((await list()).names).toEqual(await namesNow());
  });

  it('stays cached while a transaction is open, and is read again after its late commit', async () => {
    await addedPet();
    const late = new pg.Client({ connectionString: server.url });
    await late.connect();
    onTestFinished(() => late.end());
    await untilCached();
    await late.query('BEGIN');
    await late.query(`UPDATE pets SET name = 'Late'`);
    // Twice in a row, unless the service itself commits in between.
    await expect.poll(async () => (await list()).isCached && (await list()).isCached).toBe(true);
    await late.query('COMMIT');
    expect(new Set((await list()).names)).toEqual(new Set(['Late']));
  });

  it('is read again after 5 seconds: a sequence moves without a commit', async () => {
    // The service itself commits now and then.
    await expect
      .poll(async () => {
        await untilCached();
        one.clock.advance(4_999);
        return (await list()).isCached;
      })
      .toBe(true);
    one.clock.advance(1);
    expect((await list()).isCached).toBe(false);
  });

  it('is fetched by one query for all requests of one turn, which starts after they have arrived', async () => {
    await untilCached();
    const version = one.app.get(DataVersion);
    const query = vi.spyOn(pg.Client.prototype, 'query');
    const countQueries = () =>
      query.mock.calls.filter(([statement]) => JSON.stringify(statement).includes('petstore_snapshot'))
        .length;
    onTestFinished(() => query.mockRestore());
    await Promise.all(Array.from({ length: 32 }, async () => version.fresh()));
    expect(countQueries()).toBe(1);
  });

  describe('when its session', () => {
    const ENDED = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'petstore, snapshots'`;

    it('ends while it idles, is opened again: no request is refused, and nothing is logged', async () => {
      await addedPet();
      await untilCached();
      const lines: string[] = [];
      for (const level of ['log', 'warn', 'error'] as const)
        vi.spyOn(Logger.prototype, level).mockImplementation(
          (line: unknown) => void lines.push(String(line)),
        );
      onTestFinished(() => void vi.restoreAllMocks());
      await sql.query(ENDED);
      await sql.query(`UPDATE pets SET name = 'Behind the firewall'`);
      expect(new Set((await list()).names)).toEqual(new Set(['Behind the firewall']));
      await untilCached();
      expect(lines).toEqual([]);
    });

    it('lacks the permission, is not cached, and one line is logged', async () => {
      const lines: string[] = [];
      vi.spyOn(Logger.prototype, 'warn').mockImplementation((line: unknown) => void lines.push(String(line)));
      onTestFinished(() => void vi.restoreAllMocks());
      await sql.query('CREATE ROLE guest LOGIN');
      await sql.query('CREATE DATABASE guest OWNER guest');
      const url = new URL(server.url);
      url.pathname = '/guest';
      const administrator = new pg.Client({ connectionString: url.href });
      await administrator.connect();
      await administrator.query('REVOKE EXECUTE ON FUNCTION pg_current_snapshot() FROM PUBLIC');
      await administrator.end();
      url.username = 'guest';
      const guest = await TestService.open({ environment: { DATABASE_URL: url.href } });
      onTestFinished(() => guest.close());
      for (let sent = 0; sent < 5; sent += 1)
        expect((await guest.request('GET', '/v1/pets')).status).toBe(200);
      await expect
        .poll(() => lines)
        .toEqual([expect.stringMatching(/^No responses are cached.*permission denied/)]);
      expect(guest.app.get(ResponseCache).use.hits).toBe(0);
    });
  });

  describe('under attack', () => {
    const WRITES = 400;
    /** Restarts, a crash and the recovery after it, in the middle of the writes. */
    const faults = (): readonly (() => Promise<unknown>)[] => [
      async () => {
        await server.stop('fast');
        await server.start('max_prepared_transactions=16');
      },
      async () => {
        await server.stop('immediate');
        await server.start('max_prepared_transactions=16');
      },
      async () => {
        const client = new pg.Client({ connectionString: server.url });
        client.on('error', () => undefined);
        await client.connect();
        const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
        process.kill(rows[0]?.pid ?? 0, 'SIGKILL');
        await pause(500);
      },
    ];

    beforeAll(async () => {
      await sql.query('ALTER TABLE pets DROP owner_id; DELETE FROM pets');
      sql.on('error', () => undefined);
    });

    it('lacks nothing that any process acknowledged', async () => {
      const attack = new Attack([one, other], server.url, one.key);
      const { stale, checks, writes } = await attack.run(WRITES, faults());
      const hits = one.app.get(ResponseCache).use.hits + other.app.get(ResponseCache).use.hits;
      expect(stale).toEqual([]);
      expect(writes).toBeGreaterThanOrEqual(WRITES);
      expect(hits).toBeGreaterThan(checks / 10);
    });

    it('would lack it if a query served requests that arrive after its start: the attack finds that', async () => {
      shareVersions([one, other]);
      const { stale } = await new Attack([one, other], server.url, one.key).run(WRITES, []);
      expect(stale.length).toBeGreaterThan(0);
    });
  });
});

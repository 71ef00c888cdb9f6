import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { onFile } from '../support/sqlite-file.js';
import { OnTerminal } from '../support/on-terminal.js';
import { jsonHere } from '../support/petstore-here.js';
import { PostgresServer } from '../support/postgres-server.js';
import { describeWith } from '../support/requirements.js';
import { ServiceProcess, spawnPetstore, emptyFolder, petstore } from '../support/service-process.js';

const ANIMALS = 100_000;
const PATHS = [
  '/v1/pets?limit=20',
  '/v1/pets?limit=100&status=sold',
  `/v1/pets/${ANIMALS}`,
  '/v1/pets/1',
  '/v1/pets/100003',
];

/** The service is used on SQLite, and moves; each test goes on where the one before it stopped. */
describeWith('postgres-server', 'a store of 100,000 animals that moves to PostgreSQL', () => {
  let server: PostgresServer;
  let folder: string;
  let file: string;
  let key: string;
  let removeFolder: () => Promise<void>;
  let before: { responses: unknown[]; lists: unknown[]; used: number };

  const SQLITE = () => ({ DATABASE_URL: `sqlite:${file}` });
  const POSTGRES = () => ({ DATABASE_URL: server.url });
  const command = (to = target(), ...more: string[]) => [
    'db',
    'copy',
    '--from',
    `sqlite:${file}`,
    '--to',
    to,
    ...more,
  ];
  /** With a password, which the server does not ask for. */
  const target = () => server.url.replace('petstore@', 'petstore:pa55word@');
  const add = async (service: ServiceProcess) => {
    const json = { name: 'New', categoryId: 1 };
    return ((await service.request('POST', '/v1/pets', { key, json })).body as { id: number }).id;
  };
  const responsesOf = async (service: ServiceProcess) => {
    const responses: unknown[] = [];
    for (const path of PATHS) {
      const { status, headers, text } = await service.request('GET', path, { key });
      responses.push([path, { status, tag: headers.get('ETag'), text }]);
    }
    return responses;
  };
  const lists = async (environment: NodeJS.ProcessEnv): Promise<unknown[]> => [
    await jsonHere(folder, ['key', 'list'], environment),
    await jsonHere(folder, ['audit', 'list'], environment),
  ];
  const usedOf = async (environment: NodeJS.ProcessEnv): Promise<number> => {
    const [{ days }] = await jsonHere(folder, ['usage', 'list', '--days', '2'], environment);
    return days.reduce((sum: number, { requests }: { requests: number }) => sum + requests, 0);
  };

  beforeAll(async () => {
    server = await PostgresServer.start();
    const empty = await emptyFolder();
    [folder, removeFolder] = [empty.path, empty.remove];
    file = join(folder, 'petstore.sqlite');
    const service = await ServiceProcess.start(folder, SQLITE());
    key = service.demoKey;
    await onFile(
      file,
      `WITH RECURSIVE n(id) AS (SELECT (SELECT max(id) FROM pets) + 1 UNION ALL SELECT id + 1 FROM n WHERE id < 100010)
       INSERT INTO pets (id, name, category_id, status)
       SELECT id, 'Pet 🐾 ' || id, 9007199254740992 + id, CASE id % 2 WHEN 0 THEN 'sold' ELSE 'available' END FROM n;
       DELETE FROM pets WHERE id > ${ANIMALS}`,
    );
    expect(await add(service)).toBe(100_011);
    const responses = await responsesOf(service);
    const files = (await readdir(folder)).toSorted();
    const served = await petstore(folder, command());
    expect([served.code, served.stdout]).toEqual([1, '']);
    expect(served.stderr).toMatch(/^A process serves .*petstore\.sqlite\. Stop the service/);
    expect((await readdir(folder)).toSorted()).toEqual(files);
    expect(await responsesOf(service)).toEqual(responses);
    await service.stop();
    await onFile(file, 'DELETE FROM pets WHERE id = 100011');
    before = { responses, lists: await lists(SQLITE()), used: await usedOf(SQLITE()) };
    expect(before.responses).toContainEqual(['/v1/pets/100003', expect.objectContaining({ status: 404 })]);
    expect(before.used).toBe(2 * PATHS.length + 1);
  });
  afterAll(async () => {
    await server.remove();
    await removeFolder();
  });

  /** Another database of the server, which is empty. */
  const empty = async (name: string) => {
    await server.query(`CREATE DATABASE ${name}`);
    return server.url.replace(/postgres$/, name);
  };
  /** How many tables a database has once nobody is connected any more, and how many animals are in them. */
  const left = async (url: string) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const count = async (sql: string) => (await client.query<{ count: number }>(sql)).rows[0]?.count;
    const others = `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'petstore%'`;
    try {
      await expect.poll(() => count(others)).toBe(0);
      const tables = await count(
        `SELECT count(*)::int FROM pg_class WHERE relnamespace = 'public'::regnamespace`,
      );
      return tables === 0 ? 'nothing' : await count('SELECT count(*)::int FROM pets');
    } finally {
      await client.end();
    }
  };

  it('leaves an empty database, or has all, whenever it is killed by -9', async () => {
    const startedAt = performance.now();
    const { code, stdout, stderr } = await petstore(folder, command(await empty('first'), '--json'));
    const lasted = performance.now() - startedAt;
    const { tables } = JSON.parse(stdout) as { tables: Record<string, unknown>[] };
    expect([code, stderr]).toEqual([0, '']);
    expect(tables).toContainEqual({ name: 'pets', rows: ANIMALS, lastId: 100_011 });
    const found: unknown[] = [];
    for (const [at, share] of [0.4, 0.7, 0.9].entries()) {
      const url = await empty(`killed_${at}`);
      const { child, outcome } = spawnPetstore(folder, command(url));
      await Promise.race([outcome, pause(lasted * share)]);
      child.kill('SIGKILL');
      await outcome;
      found.push(await left(url));
    }
    for (const one of found) expect(['nothing', ANIMALS]).toContain(one);
    expect(found).toContain('nothing');
  });

  /** A copy on a terminal, which shows how far it is. */
  const copying = async (): Promise<OnTerminal> => {
    const terminal = OnTerminal.petstore(
      folder,
      command()
        .map((word) => `'${word}'`)
        .join(' '),
    );
    await terminal.shows(/\r.\[KCopying +\d+ % .* of [\d,]+ rows/);
    return terminal;
  };

  it('leaves nothing when it is interrupted, and says so', async () => {
    const terminal = await copying();
    terminal.type('\u0003');
    expect(await terminal.end()).toBe(1);
    expect(terminal.screen).toMatch(/\nInterrupted\. Nothing was copied\.\r\n$/);
    expect(await left(server.url)).toBe('nothing');
  });

  it('leaves nothing when PostgreSQL goes away, and says so', async () => {
    const terminal = await copying();
    await server.stop('immediate');
    expect(await terminal.end()).toBe(1);
    expect(terminal.screen).toMatch(/postgres: .*\. Nothing was copied\.\r\n$/);
    expect(terminal.screen).not.toContain('pa55word');
    await server.start();
    expect(await left(server.url)).toBe('nothing');
  });

  it('responds the same on PostgreSQL, byte for byte, and continues with its ids, quotas and audit', async () => {
    const copied = await petstore(folder, command());
    expect([copied.code, copied.stdout]).toEqual([0, expect.stringContaining('Copied 100,0')]);
    expect(copied.stdout + copied.stderr).not.toContain('pa55word');
    expect(await lists(POSTGRES())).toEqual(before.lists);
    expect(await usedOf(POSTGRES())).toBe(before.used);
    const service = await ServiceProcess.start(folder, POSTGRES());
    onTestFinished(async () => void (await service.stop()));
    expect(await responsesOf(service)).toEqual(before.responses);
    expect(await add(service)).toBe(100_012);
    await service.stop();
    expect(await usedOf(POSTGRES())).toBe(before.used + PATHS.length + 1);
  });
});

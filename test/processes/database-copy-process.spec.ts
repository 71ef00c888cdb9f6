import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { onFile } from '../support/copy-source.js';
import { PostgresServer } from '../support/postgres-server.js';
import { describeWith } from '../support/requirements.js';
import { ServiceProcess, beginPetstore, emptyFolder, petstore } from '../support/service-process.js';

const ANIMALS = 100_000;
/** How many rows are there at least when a copy is stopped half-way. */
const HALF = 40_000;
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
  let before: { answers: unknown[]; lists: unknown[]; used: number };

  const SQLITE = () => ({ DATABASE_URL: `sqlite:${file}` });
  const POSTGRES = () => ({ DATABASE_URL: server.url });
  const command = (...more: string[]) => [
    'db',
    'copy',
    '--from',
    `sqlite:${file}`,
    '--to',
    target(),
    ...more,
  ];
  /** With a password, which the server does not ask for. */
  const target = () => server.url.replace('petstore@', 'petstore:pa55word@');
  const ask = async (url: string, path: string, more: RequestInit = {}) => {
    const response = await fetch(`${url}${path}`, {
      ...more,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    });
    return { status: response.status, tag: response.headers.get('ETag'), body: await response.text() };
  };
  const add = async (url: string) => {
    const { body } = await ask(url, '/v1/pets', { method: 'POST', body: '{"name":"New","categoryId":1}' });
    return (JSON.parse(body) as { id: number }).id;
  };
  const answersOf = async (url: string) => {
    const answers: unknown[] = [];
    for (const path of PATHS) answers.push([path, await ask(url, path)]);
    return answers;
  };
  const listed = async (environment: NodeJS.ProcessEnv, ...args: string[]) => {
    const { code, stdout, stderr } = await petstore(folder, [...args, '--json'], environment);
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout) as Record<string, unknown>[];
  };
  const lists = async (environment: NodeJS.ProcessEnv) => [
    await listed(environment, 'key', 'list'),
    await listed(environment, 'audit', 'list'),
  ];
  const usedOf = async (environment: NodeJS.ProcessEnv) => {
    const [usage] = await listed(environment, 'usage', 'list', '--days', '2');
    return (usage as { days: { requests: number }[] }).days.reduce((sum, { requests }) => sum + requests, 0);
  };

  beforeAll(async () => {
    server = await PostgresServer.start();
    const empty = await emptyFolder();
    [folder, removeFolder] = [empty.path, empty.remove];
    file = join(folder, 'petstore.sqlite');
    const service = await ServiceProcess.start(folder, SQLITE());
    key = await vi.waitFor(() => {
      const [found] = /pst_test_\w+/.exec(service.output) ?? [];
      if (found === undefined) throw new Error('There is no key yet.');
      return found;
    });
    await onFile(
      file,
      `WITH RECURSIVE n(id) AS (SELECT (SELECT max(id) FROM pets) + 1 UNION ALL SELECT id + 1 FROM n WHERE id < 100010)
       INSERT INTO pets (id, name, category_id, status)
       SELECT id, 'Pet 🐾 ' || id, 9007199254740992 + id, CASE id % 2 WHEN 0 THEN 'sold' ELSE 'available' END FROM n;
       DELETE FROM pets WHERE id > ${ANIMALS}`,
    );
    expect(await add(service.url)).toBe(100_011);
    const answers = await answersOf(service.url);
    const beside = (await readdir(folder)).toSorted();
    const served = await petstore(folder, command());
    expect([served.code, served.stdout]).toEqual([1, '']);
    expect(served.stderr).toMatch(/^A process serves .*petstore\.sqlite: .*Stop the service/);
    expect((await readdir(folder)).toSorted()).toEqual(beside);
    expect(await answersOf(service.url)).toEqual(answers);
    await service.stop();
    await onFile(file, 'DELETE FROM pets WHERE id = 100011');
    before = { answers, lists: await lists(SQLITE()), used: await usedOf(SQLITE()) };
    expect(before.answers).toContainEqual(['/v1/pets/100003', expect.objectContaining({ status: 404 })]);
    expect(before.used).toBe(2 * PATHS.length + 1);
  });
  afterAll(async () => {
    await server.remove();
    await removeFolder();
  });

  /** Runs a copy, makes it stand still half-way between two batches, and does something then. */
  async function halfway(
    args: readonly string[],
    event: (child: { kill: (signal: NodeJS.Signals) => void }) => void,
  ) {
    const client = new pg.Client({ connectionString: server.url });
    client.on('error', () => undefined);
    await client.connect();
    onTestFinished(() => client.end().catch(() => undefined));
    const count = async () => {
      const isThere = await client.query<{ there: boolean }>(
        `SELECT to_regclass('database_copy') IS NOT NULL AS there`,
      );
      if (isThere.rows[0]?.there !== true) return 0;
      const { rows } = await client.query<{ count: number }>('SELECT count(*)::int AS count FROM pets');
      return rows[0]?.count ?? 0;
    };
    // One that goes on has to come further.
    const least = Math.max(HALF, (await count()) + 1);
    const { child, outcome } = beginPetstore(folder, args);
    while ((await count()) < least) if (child.exitCode !== null) throw new Error((await outcome).stderr);
    await client.query('BEGIN; LOCK TABLE database_copy IN EXCLUSIVE MODE');
    const copied = await count();
    event(child);
    return { outcome, copied, goOn: () => client.query('ROLLBACK') };
  }

  it('is killed by -9 half-way', async () => {
    const { outcome, copied, goOn } = await halfway(command(), (child) => child.kill('SIGKILL'));
    expect(await outcome).toMatchObject({ signal: 'SIGKILL' });
    await goOn();
    expect(copied).toBeGreaterThanOrEqual(HALF);
    expect(copied).toBeLessThan(ANIMALS);
  });

  it('does not start on what is half copied, nor migrates it; doctor says why', async () => {
    const why =
      /The database holds a copy that is not whole, or not compared yet\. Go on with "petstore db copy .* --resume"/;
    await expect(ServiceProcess.start(folder, POSTGRES())).rejects.toThrow(why);
    await expect(ServiceProcess.start(folder, { ...POSTGRES(), DATABASE_MIGRATE: 'off' })).rejects.toThrow(
      why,
    );
    for (const args of [['db', 'migrate'], ['doctor']]) {
      const { code, stdout, stderr } = await petstore(folder, args, POSTGRES());
      expect([args, code, stdout + stderr]).toEqual([args, 1, expect.stringMatching(why)]);
    }
  });

  it('is not copied from the beginning over it', async () => {
    const { code, stderr } = await petstore(folder, command());
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/holds a copy that was interrupted after \d+ of 100\d+ rows/),
    ]);
  });

  it('goes on, and ends cleanly at SIGINT', async () => {
    const { outcome, goOn } = await halfway(command('--resume'), (child) => child.kill('SIGINT'));
    await goOn();
    const { code, stderr } = await outcome;
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/Interrupted: copying .*\nWhat was copied is kept.* --resume/),
    ]);
  });

  it('says what to do when PostgreSQL goes away', async () => {
    const { outcome } = await halfway(command('--resume'), () => undefined);
    await server.stop('immediate');
    const { code, stdout, stderr } = await outcome;
    expect([code, stdout, stderr]).toEqual([
      1,
      '',
      expect.stringMatching(/postgres: .*\nWhat was copied is kept.* --resume/),
    ]);
    expect(stderr).not.toContain('pa55word');
    await server.start();
  });

  it('is killed by -9 when all is written, and nothing starts on what is not compared', async () => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    onTestFinished(() => client.end());
    // An empty table: nothing is written there, but it is compared.
    await client.query('BEGIN; LOCK TABLE outbox_events');
    const { child, outcome } = beginPetstore(folder, command('--resume'));
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE application_name = 'petstore, copy' AND wait_event_type = 'Lock'`;
    await expect.poll(async () => (await server.query(waiting)).length, { timeout: 60_000 }).toBe(1);
    child.kill('SIGKILL');
    expect(await outcome).toMatchObject({ signal: 'SIGKILL', stderr: expect.stringContaining('Comparing') });
    await client.query('ROLLBACK');
    await expect(ServiceProcess.start(folder, POSTGRES())).rejects.toThrow(/not compared yet/);
    const { code, stderr } = await petstore(folder, command());
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/holds a copy of which all 100\d+ rows are written, but not compared yet/),
    ]);
  });

  it('is whole in the end, compared by counts and checksums', async () => {
    const { code, stdout, stderr } = await petstore(folder, command('--resume', '--json'));
    const report = JSON.parse(stdout) as { tables: Record<string, unknown>[] };
    expect(code).toBe(0);
    expect(report.tables.find(({ name }) => name === 'pets')).toEqual({
      name: 'pets',
      rows: ANIMALS,
      checksum: expect.stringMatching(/^[\da-f]{16}$/) as string,
      lastId: 100_011,
    });
    expect(stderr).toMatch(/^Checking {2}.*\nChecking .* 100 %[^]*\nCopying {3}.*100 % .* rows\nComparing/m);
    expect(stdout + stderr).not.toContain('pa55word');
  });

  it('answers the same on PostgreSQL, byte for byte, and goes on with its ids, quotas and audit', async () => {
    expect(await lists(POSTGRES())).toEqual(before.lists);
    expect(await usedOf(POSTGRES())).toBe(before.used);
    const service = await ServiceProcess.start(folder, POSTGRES());
    onTestFinished(async () => void (await service.stop()));
    expect(await answersOf(service.url)).toEqual(before.answers);
    expect(await add(service.url)).toBe(100_012);
    await service.stop();
    expect(await usedOf(POSTGRES())).toBe(before.used + PATHS.length + 1);
  });
});

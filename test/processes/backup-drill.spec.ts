import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BackupFolder, drillLines } from '../support/backup-folder.js';
import { postgresOfTest } from '../support/databases.js';
import { keepDoing } from '../support/keep-doing.js';
import { PostgresServer } from '../support/postgres-server.js';
import { RedisServer } from '../support/redis-server.js';
import { POSTGRES_URL, describeWith } from '../support/requirements.js';
import type { ServiceProcess } from '../support/service-process.js';

/** Writes one animal after the other; `ids` are those that were acknowledged. */
function writing(folder: BackupFolder, service: ServiceProcess) {
  const ids: number[] = [];
  const stop = keepDoing(1, async () => ids.push(await folder.add(service, `Animal ${ids.length}`)));
  return { ids, stop };
}

describe('the drill of docs/operations/backup.md', () => {
  it('restores a database that is removed, and whose log stays', async () => {
    const [folders, backup, restore, migrate, doctor, ...more] = await drillLines('backup.md', 'drill');
    expect(more).toEqual([]);
    const folder = await BackupFolder.make();
    const service = await folder.start();
    const writer = writing(folder, service);
    await expect.poll(() => writer.ids.length).toBeGreaterThan(20);
    const before = [...writer.ids];
    const backedUp = await folder.shell(`${folders}\n${backup}`);
    expect(backedUp).toEqual({
      code: 0,
      output: expect.stringMatching(/The copy was verified\.\n/) as string,
    });
    await expect.poll(() => writer.ids.length).toBeGreaterThan(before.length + 20);
    await writer.stop();
    const after = [await folder.add(service, 'After'), await folder.add(service, 'After')];
    await service.stop('SIGKILL');
    const logs = (await readdir(join(folder.path, 'data'))).filter((name) => name.endsWith('-wal'));
    expect(logs).toHaveLength(1);
    await rm(folder.database);

    const restored = await folder.shell(`${restore}\n${migrate}\n${doctor}`);
    expect(restored).toEqual({ code: 0, output: expect.stringContaining('Start the service.') as string });
    // All animals are requested at the same time, which a busy machine would refuse.
    const again = await folder.start({ MAX_EVENT_LOOP_LAG_MS: '0', MAX_REQUESTS_IN_FLIGHT: '0' });
    for (const id of [before[0] ?? 0, before.at(-1) ?? 0])
      expect(await folder.find(again, id)).toEqual([200, `Animal ${writer.ids.indexOf(id)}`]);
    for (const id of after) expect(await folder.find(again, id)).toEqual([404, undefined]);
    const there = await Promise.all(writer.ids.map(async (id) => (await folder.find(again, id))[0]));
    // One moment: everything up to it, and nothing after.
    expect(there).toEqual(there.toSorted((a, b) => a - b));
    expect(await folder.add(again, 'New')).toBe((writer.ids[there.lastIndexOf(200)] ?? 0) + 1);
  });
});

/** A client with six requests a day: its key, and what sends one request with it, answered as status, code and what remains. */
async function sixADay(folder: BackupFolder) {
  const order = async (command: string) =>
    JSON.parse((await folder.shell(`npx petstore ${command} --json`)).output) as { id: string; key: string };
  const { id } = await order('client create --name Few --plan enterprise --per-minute 6 --per-day 6');
  const { key } = await order(`key issue --client ${id}`);
  return async (service: ServiceProcess) => {
    const { status, body, headers } = await service.request('GET', '/v1/pets?limit=1', { key });
    return [status, (body as { code?: string }).code, headers.get('X-RateLimit-Remaining')] as const;
  };
}

/** Starts a service, which uses three requests up, backs up, uses up the rest, and restores; returns the next request. */
async function respondAfterRestore(environment: NodeJS.ProcessEnv) {
  const folder = await BackupFolder.make();
  const send = await sixADay(folder);
  const service = await folder.start(environment);
  const used = [await send(service), await send(service), await send(service)];
  expect(used.map(([, , remaining]) => remaining)).toEqual(['5', '4', '3']);
  // Counts are in the database a second later.
  await service.stop();
  const before = await folder.shell('npx petstore db backup b.sqlite');
  expect(before.code).toBe(0);
  const again = await folder.start(environment);
  const rest = [await send(again), await send(again), await send(again), await send(again)];
  expect(rest.map(([status]) => status)).toEqual([200, 200, 200, 429]);
  const added = await folder.add(again, 'Added since');
  await again.stop('SIGKILL');
  const { output } = await folder.shell('npx petstore db restore b.sqlite --yes --json 2>/dev/null');
  const restored = await folder.start(environment);
  const responses = await send(restored);
  expect(await folder.find(restored, added)).toEqual([404, undefined]);
  await restored.stop();
  return {
    folder,
    answered: responses,
    added,
    replaced: (JSON.parse(output) as { replaced: string }).replaced,
  };
}

describe('a restore', () => {
  it('has the quotas of the backup without Redis, and what it replaced is whole: that can be restored', async () => {
    const { folder, answered: responses, added, replaced } = await respondAfterRestore({});
    expect(responses).toEqual([200, undefined, '2']);
    expect((await stat(replaced)).mode & 0o777).toBe((await stat(folder.database)).mode & 0o777);
    expect((await folder.shell(`npx petstore db restore ${replaced} --yes`)).code).toBe(0);
    expect(await folder.find(await folder.start(), added)).toEqual([200, 'Added since']);
  });
});

describeWith('redis-server', 'a restore with Redis', () => {
  it('has the quotas of Redis, which no restore undoes', async () => {
    const redis = await RedisServer.ofTest();
    // A busy machine is not a failure of Redis.
    const { answered: responses } = await respondAfterRestore({
      REDIS_URL: redis.url,
      REDIS_TIMEOUT_MS: '500',
    });
    expect(responses).toEqual([429, 'daily_quota_exceeded', '0']);
  });
});

describeWith('postgres', 'the drill for PostgreSQL', () => {
  it('restores into another database what was dumped while the service wrote', async () => {
    const [dump = '', create = '', load = '', ...more] = await drillLines('backup.md', 'postgres drill');
    expect(more).toEqual([]);
    const url = await postgresOfTest();
    const name = `restored_${process.pid}`;
    const restored = POSTGRES_URL.replace(/[^/]*$/, name);
    const { hostname, port, username } = new URL(POSTGRES_URL);
    const environment = { DATABASE_URL: url, PGHOST: hostname, PGPORT: port, PGUSER: username };
    const folder = await BackupFolder.make(environment);
    const service = await folder.start(environment);
    const writer = writing(folder, service);
    await expect.poll(() => writer.ids.length).toBeGreaterThan(20);
    const [first = 0] = writer.ids;
    const dumped = dump.replace('postgres://petstore@db.internal/petstore', url);
    expect(await folder.shell(dumped, environment)).toEqual({ code: 0, output: '' });
    expect((await stat(join(folder.path, 'petstore.dump'))).mode & 0o777).toBe(0o600);
    await writer.stop();
    const after = await folder.add(service, 'After');
    await service.stop();
    const admin = new pg.Client({ connectionString: POSTGRES_URL });
    await admin.connect();
    onTestFinished(async () => {
      await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await admin.end();
    });
    const here = (line: string) =>
      line
        .replace('-O petstore restored', `-O ${username} ${name}`)
        .replace('postgres://petstore@db.internal/restored', restored);
    const loaded = await folder.shell(`${here(create)}\n${here(load)}`, environment);
    expect(loaded).toEqual({ code: 0, output: '' });
    const again = await folder.start({ ...environment, DATABASE_URL: restored });
    expect(await folder.find(again, first)).toEqual([200, 'Animal 0']);
    expect(await folder.find(again, after)).toEqual([404, undefined]);
    expect(await folder.add(again, 'New')).toBeGreaterThan(first);
    await again.stop();
  });

  it('is what db backup and db restore print', async () => {
    const folder = await BackupFolder.make();
    const url = 'postgres://petstore:secret@db.internal/petstore';
    const other = 'postgres://my%20shop:secret@db.internal/petstore';
    const printed = await Promise.all(
      [
        ['backup x', url],
        ['restore x --yes', url],
        ['restore x --yes', other],
      ].map(([command, DATABASE_URL]) => folder.shell(`npx petstore db ${command}`, { DATABASE_URL })),
    );
    expect(printed.map(({ code }) => code)).toEqual([1, 1, 1]);
    expect(printed[0]?.output).toContain(
      "(umask 077 && pg_dump --format=custom --file=petstore.dump 'postgres://petstore@db.internal/petstore')",
    );
    const [, create = '', load = ''] = await drillLines('backup.md', 'postgres drill');
    expect(printed[1]?.output).toContain(create.replace(/ +#.*/, ''));
    expect(printed[1]?.output.replaceAll("'", '')).toContain(load);
    expect(printed[2]?.output).toContain("-O 'my shop' restored");
    expect(printed.map(({ output }) => output).join()).not.toContain('secret');
  });
});

describeWith('postgres-server', 'the recipe of docs/operations/machine-is-gone.md for PostgreSQL', () => {
  it('makes the user and the database on a new server, and restores what the user of the service owns', async () => {
    const [before, after] = [await PostgresServer.start(), await PostgresServer.start()];
    onTestFinished(() => Promise.all([before.remove(), after.remove()]).then(() => undefined));
    const folder = await BackupFolder.make({ DATABASE_URL: before.url });
    expect(await folder.shell(`pg_dump --format=custom --file=shop-1.dump ${before.url}`)).toEqual({
      code: 0,
      output: '',
    });
    // The administrator of this server is another user and has the name petstore; nobody types a password.
    const lines = (await drillLines('machine-is-gone.md', 'gone postgresql')).map((line) =>
      line.replace('runuser -u postgres -- ', '').replace('--pwprompt ', '').replaceAll('petstore', 'shop'),
    );
    expect(lines).toHaveLength(3);
    const server = { PGHOST: '127.0.0.1', PGPORT: String(after.port), PGUSER: 'petstore' };
    expect(await folder.shell(lines.join('\n'), { ...server, PGDATABASE: 'postgres' })).toEqual({
      code: 0,
      output: '',
    });
    const service = await folder.start({
      NODE_ENV: 'production',
      DATABASE_URL: `postgres://shop@127.0.0.1:${after.port}/shop`,
    });
    expect(await folder.add(service, 'First')).toBeGreaterThan(0);
  });
});

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import sqlite3 from 'sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RedisServer } from '../support/redis-server.js';
import { FAKETIME, describeWith } from '../support/requirements.js';
import { emptyFolder, petstore, ServiceProcess } from '../support/service-process.js';
import { fill, NO_SMALL_DISK, smallDisk } from '../support/small-disk.js';

const FILE = 'data/petstore.sqlite';

interface Finding {
  check: string;
  state: string;
  found: string;
}

async function folder(): Promise<string> {
  const { path, remove } = await emptyFolder();
  onTestFinished(remove);
  return path;
}

/** What doctor finds at one check. */
async function finding(path: string, check: string, environment: NodeJS.ProcessEnv = {}): Promise<Finding> {
  const { stdout } = await petstore(path, ['doctor', '--json'], environment);
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  return findings.find((one) => one.check === check) ?? { check, state: 'missing', found: '' };
}

async function journalMode(file: string, statement = 'PRAGMA journal_mode'): Promise<unknown> {
  const database = new sqlite3.Database(file);
  const row = await new Promise((resolve, reject) => {
    database.get(statement, (error, one) => (error ? reject(error) : resolve(one)));
  });
  await new Promise<void>((resolve) => database.close(() => resolve()));
  return row;
}

describe('doctor changes nothing', () => {
  it('of the journal, of marks and of what lies beside the file', async () => {
    const path = await folder();
    await petstore(path, ['db', 'migrate']);
    expect(await journalMode(join(path, FILE), 'PRAGMA journal_mode = DELETE')).toEqual({
      journal_mode: 'delete',
    });
    await writeFile(join(path, `${FILE}-process-7-0a1b2c3d`), '');
    const before = await readdir(join(path, 'data'));
    const { code, stdout, stderr } = await petstore(path, ['doctor', '--json']);
    expect([code, stderr]).toEqual([0, '']);
    expect((JSON.parse(stdout) as { isWell: boolean }).isWell).toBe(true);
    expect(await journalMode(join(path, FILE))).toEqual({ journal_mode: 'delete' });
    expect(await readdir(join(path, 'data'))).toEqual(before);
  });
});

it('doctor names what was taken from the tables, and what brings it back', async () => {
  const path = await folder();
  expect(await finding(path, 'entities')).toMatchObject({ state: 'well' });
  await petstore(path, ['db', 'migrate']);
  expect(await finding(path, 'entities')).toMatchObject({ state: 'well' });
  await journalMode(join(path, FILE), 'DROP INDEX pets_status_id');
  expect(await finding(path, 'entities')).toEqual({
    check: 'entities',
    state: 'wrong',
    found: expect.stringMatching(
      /^The database lacks what its migrations make \(CREATE INDEX "pets_status_id" .*run this statement\.$/,
    ) as string,
  });
});

describe.skipIf(NO_SMALL_DISK)('on a full disk', () => {
  it('doctor says so before there is a database', async () => {
    const path = await smallDisk();
    expect(await finding(path, 'disk')).toMatchObject({
      state: 'well',
      found: expect.stringContaining('only'),
    });
    await fill(path);
    expect(await finding(path, 'disk')).toMatchObject({
      state: 'wrong',
      found: expect.stringMatching(/disk is full: 0\.0 MiB free.*Make room/),
    });
    await mkdir(join(path, 'data'));
    await writeFile(join(path, FILE), '');
    expect(await finding(path, 'disk')).toMatchObject({ state: 'wrong' });
  });

  it('doctor beside the service says that no writes are taken, and the command line and the next start name the disk', async () => {
    const path = await smallDisk();
    const service = await ServiceProcess.start(path);
    onTestFinished(async () => void (await service.stop('SIGKILL')));
    await fill(path);
    expect(await finding(path, 'database')).toMatchObject({
      state: 'wrong',
      found: expect.stringMatching(/petstore\.sqlite cannot be written: the disk is full/),
    });
    // The log has some room left in the blocks that it has already.
    for (let made = { code: 0 as number | null, stderr: '' }; ;) {
      made = await petstore(path, ['client', 'create', '--name', 'x'.repeat(200), '--plan', 'free']);
      if (made.code === 0) continue;
      expect(made.stderr).toMatch(/petstore\.sqlite cannot be written: the disk is full\. Make room on it/);
      expect(made.stderr).not.toContain('Retry-After');
      break;
    }
    await rm(join(path, 'ballast'));
    await service.stop();
    await fill(path);
    await expect(ServiceProcess.start(path)).rejects.toThrow(
      /petstore\.sqlite cannot be written: the disk is full\. Make room on it/,
    );
  });
});

describe('where a start fails for a link that leads nowhere', () => {
  it.each([
    { what: 'the folder', link: 'data', file: FILE },
    { what: 'the file', link: 'petstore.sqlite', file: 'petstore.sqlite' },
  ])('as $what, doctor and the start say so', async ({ link, file }) => {
    const path = await folder();
    await symlink(join(path, 'away/there'), join(path, link));
    const environment = { DATABASE_URL: `sqlite:${file}` };
    const said = `${file} cannot be used: ${link} is a link that leads nowhere`;
    expect(await finding(path, 'database', environment)).toMatchObject({
      state: 'wrong',
      found: expect.stringContaining(said),
    });
    await expect(ServiceProcess.start(path, environment)).rejects.toThrow(said);
  });
});

it('doctor names the file of settings that cannot be read, as one JSON document', async () => {
  const path = await folder();
  await mkdir(join(path, '.env'));
  const { code, stdout } = await petstore(path, ['doctor', '--json'], { DATABSE_URL: 'x' });
  expect(code).toBe(1);
  expect((JSON.parse(stdout) as { findings: Finding[] }).findings).toContainEqual({
    check: 'settings',
    state: 'wrong',
    found: expect.stringMatching(/^\.env cannot be read: it is a folder\./) as string,
  });
  const refused = await petstore(path, ['client', 'list']);
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringMatching(/^The settings.*\n\.env cannot be read/),
  ]);
  await expect(ServiceProcess.start(path)).rejects.toThrow(/\.env cannot be read: it is a folder/);
});

it.each([
  ['a device, whose rights it gives no advice on', '/dev/null', /^\/dev\/null is a device.*Name another/],
  ['a file among the folders', 'data/petstore.sqlite', /: data is not a folder\. Name another/],
])('doctor refuses %s', async (_, file, why) => {
  const path = await folder();
  await writeFile(join(path, 'data'), '');
  const { stdout } = await petstore(path, ['doctor', '--json'], { DATABASE_URL: `sqlite:${file}` });
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  expect(findings.filter(({ state }) => state === 'wrong')).toEqual([
    { check: 'database', state: 'wrong', found: expect.stringMatching(why) as string },
  ]);
});

async function redisServer(): Promise<RedisServer> {
  const server = await RedisServer.start();
  onTestFinished(() => server.remove());
  return server;
}

describeWith('redis-server', 'doctor compares the clock with that of Redis', () => {
  describeWith('faketime', 'which is set otherwise here', () => {
    it.each([
      ['is content with some seconds', '+3s', 'well', / 3\.\d s ahead of that of Redis$/],
      [
        'finds more',
        '-20s',
        'wrong',
        /^it is (?:19|20)\.\d s behind that of Redis\. .*time service.*, there too\.$/,
      ],
    ])('and %s', async (_, FAKETIME_OFFSET, state, found) => {
      const environment = {
        REDIS_URL: (await redisServer()).url,
        LD_PRELOAD: FAKETIME,
        FAKETIME: FAKETIME_OFFSET,
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      };
      const { code, stdout } = await petstore(await folder(), ['doctor', '--json'], environment);
      expect(code).toBe(state === 'well' ? 0 : 1);
      expect((JSON.parse(stdout) as { findings: Finding[] }).findings).toContainEqual({
        check: 'clock',
        state,
        found: expect.stringMatching(found) as string,
      });
    });
  });
});

describeWith('redis-server', 'doctor asks Redis by what the service asks with', () => {
  it('and finds scripts that are not allowed', async () => {
    const server = await redisServer();
    server.command('ACL', 'SETUSER', 'pet', 'on', '>word', '~*', '+@all', '-eval', '-evalsha');
    const url = server.url.replace('//', '//pet:word@');
    expect(await finding(await folder(), 'redis', { REDIS_URL: url })).toMatchObject({
      state: 'wrong',
      found: expect.stringMatching(/NOPERM/),
    });
  });

  it('and finds that it evicts counts when memory is short, unless it may not ask', async () => {
    const server = await redisServer();
    server.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    expect(await finding(await folder(), 'redis', { REDIS_URL: server.url })).toMatchObject({
      state: 'wrong',
      found: expect.stringMatching(/\(allkeys-lru\)\. Set its maxmemory-policy to noeviction/),
    });
    server.command('ACL', 'SETUSER', 'pet', 'on', '>word', '~petstore:quota:*', '+@all', '-info');
    const url = server.url.replace('//', '//pet:word@');
    expect(await finding(await folder(), 'redis', { REDIS_URL: url })).toMatchObject({ state: 'well' });
  });

  it('and finds keys that are of another kind', async () => {
    const server = await redisServer();
    server.command('SET', 'petstore:quota:instances', 'none');
    expect(await finding(await folder(), 'redis', { REDIS_URL: server.url })).toMatchObject({
      state: 'wrong',
      found: expect.stringMatching(/WRONGTYPE/),
    });
  });

  it('and is content with the rights on its own keys', async () => {
    const server = await redisServer();
    server.command('ACL', 'SETUSER', 'pet', 'on', '>word', '~petstore:quota:*', '+@all');
    const url = server.url.replace('//', '//pet:word@');
    expect(await finding(await folder(), 'redis', { REDIS_URL: url })).toMatchObject({ state: 'well' });
    expect(
      server
        .command('KEYS', '*')
        .split('\n')
        .every((key) => key.startsWith('petstore:quota:')),
    ).toBe(true);
  });
});

it('doctor names the setting of a file of certificates that is not there, in whole sentences', async () => {
  const path = await folder();
  const ca = { REDIS_CA: 'absent.crt', DATABASE_CA: 'absent.crt' };
  const redis = await finding(path, 'redis', { ...ca, REDIS_URL: 'rediss://localhost' });
  expect(redis).toMatchObject({
    state: 'wrong',
    found: expect.stringMatching(/REDIS_CA: .* cannot be read .*\. Look at/),
  });
  const DATABASE_URL = 'postgres://localhost/shop?sslmode=verify-full';
  const database = await finding(path, 'database', { ...ca, DATABASE_URL });
  expect(database).toMatchObject({
    state: 'wrong',
    found: expect.stringMatching(/^DATABASE_CA: .* cannot be read/),
  });
  expect(redis.found + database.found).not.toContain('..');
});

/** A free port that something else listens on until the end of the test. */
async function taken(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

it('doctor names a port that another program uses, and is content with one that the service itself has', async () => {
  const path = await folder();
  const port = await taken();
  expect(await finding(path, 'ports', { PORT: String(port) })).toMatchObject({
    state: 'wrong',
    found: `PORT: port ${port} is in use; set PORT to a free one.`,
  });
  const service = await ServiceProcess.start(path);
  onTestFinished(async () => void (await service.stop('SIGKILL')));
  const own = new URL(service.url).port;
  expect(await finding(path, 'ports', { PORT: own })).toMatchObject({
    state: 'well',
    found: `PORT: this service runs on ${own}`,
  });
});

it('doctor tells every wrong setting as a finding, with names that are probably misspelt', async () => {
  const path = await folder();
  const environment = { PORT: 'x', LOG_LEVEL: 'loud', DATABSE_URL: 'secret' };
  const { code, stdout } = await petstore(path, ['doctor', '--json'], environment);
  expect(code).toBe(1);
  const { isWell, findings } = JSON.parse(stdout) as { isWell: boolean; findings: Finding[] };
  expect(isWell).toBe(false);
  expect(findings.filter(({ check }) => check === 'settings')).toEqual([
    {
      check: 'settings',
      state: 'wrong',
      found: expect.stringMatching(/^PORT: "x" is not allowed/) as string,
    },
    { check: 'settings', state: 'wrong', found: expect.stringMatching(/^LOG_LEVEL: "loud"/) as string },
    {
      check: 'settings',
      state: 'wrong',
      found: 'DATABSE_URL is no setting and is not read: did you mean DATABASE_URL?',
    },
  ]);
  expect(stdout).not.toContain('secret');
});

it('doctor finds a clock that stands before what was written', async () => {
  const path = await folder();
  await petstore(path, ['db', 'migrate']);
  expect(await finding(path, 'clock')).toMatchObject({ state: 'well' });
  const tomorrow = new Date(Date.now() + 86_400_000);
  await utimes(join(path, FILE), tomorrow, tomorrow);
  expect(await finding(path, 'clock')).toMatchObject({
    state: 'wrong',
    found: expect.stringMatching(
      /^it stands at .*, but .*petstore\.sqlite was written at .*time service/,
    ) as string,
  });
});

it('doctor looks at Node.js, the settings, ports, clock, rights and all else, on a store that is well', async () => {
  const path = await folder();
  await petstore(path, ['db', 'migrate']);
  const { code, stdout } = await petstore(path, ['doctor', '--json']);
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  expect(code).toBe(0);
  const checks =
    'node declarations settings ports database integrity migrations entities rights disk processes clock redis';
  expect(new Set(findings.map(({ check }) => check))).toEqual(new Set(checks.split(' ')));
});

describeWith('postgres', 'doctor on PostgreSQL', () => {
  const given = process.env.PETSTORE_TEST_POSTGRES ?? 'postgres://postgres@127.0.0.1:5432/postgres';

  /** Makes a database with a user of its own for the test; statements are run there before the test. */
  async function withUser(...statements: string[]): Promise<string> {
    const name = `petstore_doctor_${randomBytes(4).toString('hex')}`;
    const [server, inside] = [new URL(given), new URL(given)];
    inside.pathname = `/${name}`;
    const run = async (url: URL, ...all: string[]) => {
      const client = new pg.Client({ connectionString: url.href });
      await client.connect();
      for (const sql of all) await client.query(sql);
      await client.end();
    };
    await run(server, `CREATE DATABASE ${name}`, `CREATE ROLE ${name} LOGIN PASSWORD 'word'`);
    onTestFinished(() => run(server, `DROP DATABASE ${name} WITH (FORCE)`, `DROP ROLE ${name}`));
    await petstore(await folder(), ['db', 'migrate'], { DATABASE_URL: inside.href });
    await run(inside, `GRANT ALL ON SCHEMA public TO ${name}`);
    for (const sql of statements) await run(inside, sql.replaceAll('<user>', name));
    const own = new URL(inside);
    Object.assign(own, { username: name, password: 'word' });
    onTestFinished(() => run(inside, `DROP OWNED BY ${name}`));
    return own.href;
  }

  it.each([
    [
      'who may not read the tables of another',
      [],
      /the table api_keys, which another user owns\..*REASSIGN OWNED/,
    ],
    [
      'who may not write all of them',
      ['GRANT ALL ON ALL TABLES IN SCHEMA public TO <user>', 'REVOKE DELETE ON pets FROM <user>'],
      /the table pets, which/,
    ],
    [
      'with fewer connections than a process may need',
      ['GRANT ALL ON ALL TABLES IN SCHEMA public TO <user>', 'ALTER ROLE <user> CONNECTION LIMIT 5'],
      /: [2-5] connections are free, and DATABASE_POOL is 10\. .*CONNECTION LIMIT of the user/,
    ],
  ])('finds a user %s', async (_, statements, found) => {
    const DATABASE_URL = await withUser(...statements);
    expect(await finding(await folder(), 'database', { DATABASE_URL })).toMatchObject({
      state: 'wrong',
      found: expect.stringMatching(found) as string,
    });
  });

  it('is content with a user who may use the tables', async () => {
    const DATABASE_URL = await withUser('GRANT ALL ON ALL TABLES IN SCHEMA public TO <user>');
    expect(await finding(await folder(), 'database', { DATABASE_URL })).toMatchObject({ state: 'well' });
  });

  it('says what to do where another program listens, which ends the connection', async () => {
    const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const DATABASE_URL = `postgres://shop@127.0.0.1:${(server.address() as AddressInfo).port}/shop`;
    expect(await finding(await folder(), 'database', { DATABASE_URL })).toMatchObject({
      state: 'wrong',
      found: expect.stringMatching(
        /Connection terminated unexpectedly\. Look at the host and the port/,
      ) as string,
    });
  });

  it('compares the clocks', async () => {
    const DATABASE_URL = process.env.PETSTORE_TEST_POSTGRES ?? 'postgres://postgres@127.0.0.1:5432/postgres';
    expect(await finding(await folder(), 'clock', { DATABASE_URL })).toMatchObject({
      state: 'well',
      found: expect.stringMatching(/ s (?:behind|ahead of) that of PostgreSQL$/) as string,
    });
  });
});

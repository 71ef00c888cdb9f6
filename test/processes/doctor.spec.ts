import { once } from 'node:events';
import { chmod, mkdir, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';

import { onFile } from '../support/sqlite-file.js';
import { finding, findingsIn, wrong } from '../support/doctor-findings.js';
import { petstoreHere as petstore } from '../support/petstore-here.js';
import { folderOfTest, serviceOfTest, ServiceProcess } from '../support/service-process.js';
import { fill, NO_SMALL_DISK, smallDisk } from '../support/small-disk.js';

const FILE = 'data/petstore.sqlite';

/** A free port that something else listens on until the end of the test, which ends each connection. */
async function usedPort(): Promise<number> {
  const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

describe('doctor on a store without errors', () => {
  it('looks at Node.js, the settings, ports, clock, permissions and all else, and changes nothing', async () => {
    const path = await folderOfTest();
    await petstore(path, ['db', 'migrate']);
    await onFile(join(path, FILE), 'PRAGMA journal_mode = DELETE');
    await writeFile(join(path, `${FILE}-process-7-0a1b2c3d`), '');
    const before = await readdir(join(path, 'data'));
    const { code, stdout, stderr } = await petstore(path, ['doctor', '--json']);
    expect([code, stderr]).toEqual([0, '']);
    const checks =
      'node declarations settings ports database integrity migrations entities permissions disk processes plans clock redis';
    expect(new Set(findingsIn(stdout).map(({ check }) => check))).toEqual(new Set(checks.split(' ')));
    // A journal of another kind would have its files alongside it.
    expect(await readdir(join(path, 'data'))).toEqual(before);
  });

  it('is content with the port that the service itself has', async () => {
    const path = await folderOfTest();
    const service = await serviceOfTest(path);
    const { port } = new URL(service.url);
    const found = `PORT: this service runs on ${port}`;
    expect(await finding(path, 'ports', { PORT: port })).toMatchObject({ state: 'ok', found });
  });
});

/** Takes away the latest migration of webhooks. */
async function withoutMigration(path: string, mode: string): Promise<NodeJS.ProcessEnv> {
  await onFile(
    join(path, FILE),
    `DELETE FROM schema_migrations WHERE name LIKE 'WebhookAttempts%'; ALTER TABLE webhook_deliveries DROP COLUMN attempt_log`,
  );
  return { DATABASE_MIGRATE: mode };
}

/** What is wrong: how it is made, in a migrated store, with the variables that lead to it; the check that finds it, and what it says. */
const FAULTS: readonly (readonly [
  what: string,
  make: (path: string) => Promise<NodeJS.ProcessEnv | void>,
  check: string,
  says: RegExp,
])[] = [
  [
    'an index that was taken from the tables, and what brings it back',
    (path) => onFile(join(path, FILE), 'DROP INDEX pets_status_id'),
    'entities',
    /^The database lacks tables or columns that its migrations create \(CREATE INDEX "pets_status_id" .*run this statement\.$/,
  ],
  [
    'a clock that stands before what was written',
    async (path) => {
      const tomorrow = new Date(Date.now() + 86_400_000);
      await utimes(join(path, FILE), tomorrow, tomorrow);
    },
    'clock',
    /^the clock shows .*, but .*petstore\.sqlite was written at .*time service/,
  ],
  [
    'a file of settings that cannot be read',
    (path) => mkdir(join(path, '.env')),
    'settings',
    /^\.env cannot be read: it is a directory\./,
  ],
  [
    'a link that leads nowhere',
    async (path) => {
      await symlink(join(path, 'away/there'), join(path, 'shop.sqlite'));
      return { DATABASE_URL: 'sqlite:shop.sqlite' };
    },
    'database',
    /shop\.sqlite cannot be used: shop\.sqlite is a broken link/,
  ],
  [
    'a certificate for Redis that is not there',
    () => Promise.resolve({ REDIS_CA: 'absent.crt', REDIS_URL: 'rediss://localhost' }),
    'redis',
    /REDIS_CA: .* cannot be read (?!.*\.\.).*\. Check/,
  ],
  [
    'a migration that a start would refuse to run',
    (path) => withoutMigration(path, 'check'),
    'migrations',
    /^.*petstore\.sqlite lacks migrations \(WebhookAttempts\d+\)\. Run "petstore db migrate"/,
  ],
  [
    'a migration that a start would ignore',
    (path) => withoutMigration(path, 'off'),
    'migrations',
    /^1 pending \(WebhookAttempts\d+\), which startup ignores because of DATABASE_MIGRATE=off/,
  ],
  [
    'a plan that clients have and PLANS lacks',
    (path) =>
      onFile(
        join(path, FILE),
        `INSERT INTO clients (id, name, plan, created_at) VALUES ('1', 'A', 'team', '2026-11-20T12:00:00.000Z')`,
      ),
    'plans',
    /^Clients have the plan team, which PLANS does not contain/,
  ],
  [
    'a port that another program uses',
    async () => ({ PORT: String(await usedPort()) }),
    'ports',
    /^PORT: port \d+ is in use; set PORT to a free port\.$/,
  ],
];

it.each(FAULTS)('doctor finds %s', async (_, make, check, expected) => {
  const path = await folderOfTest();
  await petstore(path, ['db', 'migrate']);
  const environment = (await make(path)) ?? {};
  expect(await finding(path, check, environment)).toMatchObject(wrong(expected));
});

it('doctor, and the start, find a file of settings that every user may read in production', async () => {
  const path = await folderOfTest();
  await writeFile(join(path, '.env'), 'NODE_ENV=production\n');
  await chmod(join(path, '.env'), 0o644);
  const expected = /\.env, which may contain passwords\. Run: chmod o= \.env$/;
  const { code, stdout } = await petstore(path, ['doctor', '--json']);
  expect([code, findingsIn(stdout).at(-1)]).toMatchObject([1, { check: 'permissions', ...wrong(expected) }]);
  await chmod(join(path, '.env'), 0o640);
  const last = async () => findingsIn((await petstore(path, ['doctor', '--json'])).stdout).at(-1);
  expect(await last()).toMatchObject({ state: 'ok', found: 'access to .env is restricted' });
  await writeFile(join(path, '.env'), 'NODE_ENV=development\n');
  expect(await last()).toMatchObject({ check: 'permissions', state: 'skipped' });
});

it('doctor reports every wrong setting as a finding, with names that are probably misspelled', async () => {
  const environment = { PORT: 'x', LOG_LEVEL: 'loud', DATABSE_URL: 'secret' };
  const { code, stdout } = await petstore(await folderOfTest(), ['doctor', '--json'], environment);
  expect(code).toBe(1);
  expect(findingsIn(stdout).filter(({ check }) => check === 'settings')).toMatchObject([
    wrong(/^PORT: "x" is not allowed/),
    wrong(/^LOG_LEVEL: "loud"/),
    wrong(/^DATABSE_URL is not a setting and is ignored\. Did you mean DATABASE_URL\?$/),
  ]);
  expect(stdout).not.toContain('secret');
});

describe.skipIf(NO_SMALL_DISK)('on a full disk', () => {
  it('doctor says so before there is a database', async () => {
    const path = await smallDisk();
    expect((await finding(path, 'disk')).state).toBe('warning');
    await fill(path);
    const full = wrong(/disk is full: 0\.0 MiB free.*Free up space/);
    expect(await finding(path, 'disk')).toMatchObject(full);
    await mkdir(join(path, 'data'));
    await writeFile(join(path, FILE), '');
    expect(await finding(path, 'disk')).toMatchObject({ state: 'wrong' });
  });

  it('doctor alongside the service says that writes are refused, and the command line and the next start name the disk', async () => {
    const path = await smallDisk();
    const service = await serviceOfTest(path);
    await fill(path);
    const full = /petstore\.sqlite cannot be used: the disk is full/;
    expect(await finding(path, 'database')).toMatchObject(wrong(full));
    const create = ['client', 'create', '--name', 'x'.repeat(200), '--plan', 'free'];
    let made = await petstore(path, create);
    // The log has some room left in the blocks that it has already.
    while (made.code === 0) made = await petstore(path, create);
    expect(made.stderr).toMatch(full);
    expect(made.stderr).not.toContain('Retry-After');
    await rm(join(path, 'ballast'));
    await service.stop();
    await fill(path);
    await expect(ServiceProcess.start(path)).rejects.toThrow(full);
  });
});

import { spawnSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { clientWithKey } from '../support/petstore-here.js';
import { PostgresServer } from '../support/postgres-server.js';
import { describeWith } from '../support/requirements.js';
import { folderOfTest, serviceOfTest } from '../support/service-process.js';
import { fill, NO_SMALL_DISK, smallDisk } from '../support/small-disk.js';

interface Fault {
  /** Where the service runs. */
  readonly folder: () => Promise<string>;
  readonly environment?: NodeJS.ProcessEnv;
  readonly start: (folder: string, pid: number) => Promise<void> | void;
  readonly end: (folder: string, pid: number) => Promise<void> | void;
  readonly expected: RegExp;
}

/** Makes a fault, in which writes are refused and reads are not and nothing acknowledged is lost; returns what was logged. */
async function warningsDuring({
  folder,
  environment = { NODE_ENV: 'production' },
  start,
  end,
  expected,
}: Fault) {
  const path = await folder();
  const service = await serviceOfTest(path, environment);
  const { key } = await clientWithKey(path, environment);
  const acknowledged: number[] = [];
  const add = async () => {
    const json = { name: 'x'.repeat(250), categoryId: 1 };
    const { status, body, headers } = await service.request('POST', '/v1/pets', { key, json });
    expect([201, 503]).toContain(status);
    if (status === 201) acknowledged.push((body as { id: number }).id);
    else expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    return status;
  };
  const statusOf = async (target: string) => (await service.request('GET', target, { key })).status;
  expect(await add()).toBe(201);

  await start(path, service.pid);
  // The log has some room left in the blocks that it has already, and a page of a table in PostgreSQL has room for some 25 rows.
  await expect.poll(add).toBe(503);
  for (let sent = 0; sent < 40; sent += 1) {
    await add();
    await pause(50);
  }
  expect(await statusOf('/v1/pets?limit=1')).toBe(200);
  await expect.poll(() => statusOf('/health/ready')).toBe(503);
  expect((await service.request('GET', '/health/ready')).body.message).toMatch(expected);
  expect(await statusOf('/health/live')).toBe(200);

  await end(path, service.pid);
  await expect.poll(() => statusOf('/health/ready')).toBe(200);
  expect(await add()).toBe(201);
  for (const id of acknowledged) expect(await statusOf(`/v1/pets/${id}`)).toBe(200);
  await service.stop();
  return service.warnings;
}

const ONCE_EACH = [
  expect.stringMatching(/ cannot be written to: .*[Tt]he service recovers automatically/),
  expect.stringMatching(/written to again|accepts writes again/),
];

describe('a service recovers from a disk', () => {
  it.skipIf(NO_SMALL_DISK)('that is full', async () => {
    const end = (folder: string) => rm(join(folder, 'ballast'));
    const fault = { folder: smallDisk, start: fill, end, expected: /the disk is full/ };
    expect(await warningsDuring(fault)).toEqual(ONCE_EACH);
  });

  it.skipIf(spawnSync('prlimit', ['--version']).error)('that fails to write', async () => {
    const limit = (bytes: string) => (_: string, pid: number) =>
      void spawnSync('prlimit', ['--pid', `${pid}`, `--fsize=${bytes}:unlimited`]);
    // No file may grow beyond its first page.
    const [start, end] = [limit('4096'), limit('unlimited')];
    const fault = { folder: folderOfTest, start, end, expected: /the disk is failing|the disk is full/ };
    expect(await warningsDuring(fault)).toEqual(ONCE_EACH);
  });
});

describeWith('postgres-server', 'a service recovers from a PostgreSQL', () => {
  it.skipIf(NO_SMALL_DISK)('whose disk is full', async () => {
    const server = await PostgresServer.start();
    onTestFinished(() => server.remove());
    const disk = await smallDisk(64, 2_000);
    server.handOver(disk);
    const store = 'CREATE DATABASE store TABLESPACE small';
    await server.query(`CREATE TABLESPACE small LOCATION '${disk}'`, store);
    const fault = {
      folder: folderOfTest,
      environment: { DATABASE_URL: server.url.replace(/postgres$/, 'store') },
      start: () => fill(disk),
      end: () => rm(join(disk, 'ballast')),
      expected: /database/,
    };
    expect(await warningsDuring(fault)).toEqual(ONCE_EACH);
  });
});

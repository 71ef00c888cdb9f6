import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ProcessLockFiles } from '../../src/database/sqlite/process-lock-files.js';
import { findingsIn } from '../support/doctor-findings.js';
import { folderOfTest, petstore, serviceOfTest, ServiceProcess } from '../support/service-process.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { fill, fillWithFiles, NO_SMALL_DISK, smallDisk } from '../support/small-disk.js';

const WARNING = /processes serve data\/petstore\.sqlite without Redis.*Set REDIS_URL/;

const start = (path: string) => serviceOfTest(path, { NODE_ENV: 'production' });

const warnings = ({ output }: ServiceProcess) => output.split('\n').filter((line) => WARNING.test(line));
const marks = async (path: string) =>
  (await readdir(join(path, 'data'))).filter((name) => name.startsWith('petstore.sqlite-process-'));
const hidden = async (path: string) =>
  (await readdir(join(path, 'data'))).filter((name) => name.startsWith('.'));

/** What doctor finds of a part: its exit code and the state. */
async function doctor(path: string, ...checks: string[]): Promise<unknown[]> {
  const { code, stdout } = await petstore(path, ['doctor', '--json']);
  const findings = findingsIn(stdout);
  return [code, ...checks.map((check) => findings.find((one) => one.check === check)?.state)];
}

it('two processes on one file without Redis tell each other once, and doctor tells too, until one has ended', async () => {
  const path = await folderOfTest();
  const first = await start(path);
  await expect.poll(() => marks(path)).toHaveLength(1);
  expect(warnings(first)).toEqual([]);
  const second = await start(path);
  for (const one of [first, second]) await expect.poll(() => warnings(one)).not.toEqual([]);
  expect(await doctor(path, 'processes')).toEqual([1, 'wrong']);
  const both = await marks(path);
  await second.stop('SIGKILL');
  await expect.poll(() => first.output).toContain('No other process serves');
  expect([warnings(first).length, warnings(second).length]).toEqual([1, 1]);
  expect(await doctor(path, 'processes')).toEqual([0, 'ok']);
  expect(await hidden(path)).toEqual([]);
  await first.stop('SIGKILL');
  expect((await marks(path)).length).toBeGreaterThan(0);

  // What was left over is removed, and warns of nobody.
  const next = await start(path);
  await expect.poll(() => marks(path)).toEqual([expect.not.stringMatching(both.join('|'))]);
  // One that is not locked yet would be made again by being opened, and another is made in its place if it is looked at just then.
  const looking = await ProcessLockFiles.of(join(path, 'data/petstore.sqlite'));
  await expect.poll(() => looking.others('left')).toBe(1);
  const [mark = ''] = await marks(path);
  await rm(join(path, 'data', mark));
  await expect.poll(() => marks(path)).toHaveLength(1);
  expect(await marks(path)).not.toEqual([mark]);
  await next.stop();
  expect([await marks(path), warnings(next)]).toEqual([[], []]);
});

describe.skipIf(NO_SMALL_DISK)('a start on a full disk', () => {
  async function storeOnSmallDisk(): Promise<string> {
    const path = await smallDisk();
    const first = await start(path);
    // Its log stays: what would make it anew finds no room.
    await first.stop('SIGKILL');
    for (const mark of await marks(path)) await rm(join(path, 'data', mark));
    return path;
  }

  it('marks the process all the same: that takes no room', async () => {
    const path = await storeOnSmallDisk();
    await fill(path);
    const service = await start(path);
    await expect.poll(() => marks(path)).toHaveLength(1);
    expect(await hidden(path)).toEqual([]);
    expect(service.output).not.toContain('cannot be notified');
  });

  it('that has no room for another file, marks it as soon as there is', async () => {
    const path = await storeOnSmallDisk();
    const ballast = await fillWithFiles(path);
    const service = await start(path);
    await expect.poll(() => service.output).toContain('cannot be notified');
    await Promise.all(ballast.map((file) => rm(file)));
    await expect.poll(() => marks(path)).toHaveLength(1);
    await expect.poll(() => service.output).toContain('can be notified again');
    expect(service.output.split('cannot be notified')).toHaveLength(2);
    const second = await start(path);
    for (const one of [service, second]) await expect.poll(() => warnings(one)).toHaveLength(1);
  });
});

describe('doctor', () => {
  it('finds no fault in an empty folder, and makes nothing there', async () => {
    const path = await folderOfTest();
    expect(await doctor(path)).toEqual([0]);
    expect(await readdir(path)).toEqual([]);
  });

  it('says so while another process has the database locked', async () => {
    const path = await folderOfTest();
    await petstore(path, ['db', 'migrate']);
    const other = await SqliteFile.open(join(path, 'data/petstore.sqlite'));
    await other.run('BEGIN IMMEDIATE');
    expect(await doctor(path, 'database', 'integrity')).toEqual([1, 'wrong', 'ok']);
    await other.close();
  });
});

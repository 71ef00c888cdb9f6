import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import sqlite3 from 'sqlite3';
import { ProcessLockFiles } from '../../src/database/sqlite/process-lock-files.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { emptyFolder, petstore, ServiceProcess } from '../support/service-process.js';
import { fill, fillWithFiles, NO_SMALL_DISK, smallDisk } from '../support/small-disk.js';

const WARNING = /processes serve data\/petstore\.sqlite without Redis.*Set REDIS_URL/;

async function folder(): Promise<string> {
  const { path, remove } = await emptyFolder();
  onTestFinished(remove);
  return path;
}

async function start(path: string, environment: NodeJS.ProcessEnv = {}): Promise<ServiceProcess> {
  const service = await ServiceProcess.start(path, { NODE_ENV: 'production', ...environment });
  onTestFinished(async () => void (await service.stop('SIGKILL')));
  return service;
}

/** Waits until something holds; the test's own time is the bound. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await setTimeout(100);
}

const warnings = ({ output }: ServiceProcess) => output.split('\n').filter((line) => WARNING.test(line));
const marks = async (path: string) =>
  (await readdir(join(path, 'data'))).filter((name) => name.startsWith('petstore.sqlite-process-'));

const hidden = async (path: string) =>
  (await readdir(join(path, 'data'))).filter((name) => name.startsWith('.'));

interface Report {
  isWell: boolean;
  findings: { check: string; state: string; found: string }[];
}

async function doctor(path: string, environment: NodeJS.ProcessEnv = {}): Promise<[number | null, Report]> {
  const { code, stdout } = await petstore(path, ['doctor', '--json'], environment);
  return [code, JSON.parse(stdout) as Report];
}

const stateOf = ({ findings }: Report, check: string) => findings.find((one) => one.check === check)?.state;

describe('two processes on one file without Redis', () => {
  it('tell each other once, and doctor tells too, until one of them has ended', async () => {
    const path = await folder();
    const first = await start(path);
    await until(async () => (await marks(path)).length === 1);
    expect((await doctor(path))[0]).toBe(0);
    expect(warnings(first)).toEqual([]);
    const second = await start(path);
    await until(() => warnings(second).length > 0 && warnings(first).length > 0);
    const [code, report] = await doctor(path);
    expect([code, report.isWell, stateOf(report, 'processes')]).toEqual([1, false, 'wrong']);
    await second.stop('SIGKILL');
    await until(() => first.output.includes('No other process serves'));
    expect([warnings(first).length, warnings(second).length]).toEqual([1, 1]);
    expect((await doctor(path))[0]).toBe(0);
    await first.stop();
    expect(await marks(path)).toEqual([]);
  });
});

describe('a start', () => {
  it('right after kill -9 warns of nobody, and removes what was left over', async () => {
    const path = await folder();
    const killed = await start(path);
    await until(async () => (await marks(path)).length === 1);
    const left = await marks(path);
    await killed.stop('SIGKILL');
    expect(await marks(path)).toEqual(left);
    const next = await start(path);
    await until(async () => (await marks(path)).some((mark) => !left.includes(mark)));
    await until(async () => !(await marks(path)).includes(left[0] ?? ''));
    await next.stop();
    expect(warnings(next)).toEqual([]);
  });

  it('after kill -9 finds no hidden files, and removes those that former versions left', async () => {
    const path = await folder();
    const killed = await start(path);
    await until(async () => (await marks(path)).length === 1);
    expect(await hidden(path)).toEqual([]);
    await killed.stop('SIGKILL');
    for (const left of ['.petstore.sqlite-process-7-0a1b2c3d', '.petstore.sqlite-process-7-0a1b2c3d-journal'])
      await writeFile(join(path, 'data', left), '');
    await writeFile(join(path, 'data/.of-somebody-else'), '');
    await start(path);
    await until(async () => (await hidden(path)).length === 1);
    expect(await hidden(path)).toEqual(['.of-somebody-else']);
  });
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
    await until(async () => (await marks(path)).length === 1);
    expect(await hidden(path)).toEqual([]);
    expect(service.output).not.toContain('cannot be told');
  });

  it('that has no room for another file, marks it as soon as there is', async () => {
    const path = await storeOnSmallDisk();
    const ballast = await fillWithFiles(path);
    const service = await start(path);
    await until(() => service.output.includes('cannot be told'));
    await Promise.all(ballast.map((file) => rm(file)));
    await until(async () => (await marks(path)).length === 1);
    await until(() => service.output.includes('can be told again'));
    expect(service.output.split('cannot be told')).toHaveLength(2);
    const second = await start(path);
    await until(() => warnings(service).length === 1 && warnings(second).length === 1);
  });
});

describe('a mark that was removed', () => {
  it('is made again', async () => {
    const path = await folder();
    const service = await start(path);
    await until(async () => (await marks(path)).length === 1);
    // One that is not locked yet would be made again by being opened, and another is made in its place if it is looked at just then.
    const looking = await ProcessLockFiles.of(join(path, 'data/petstore.sqlite'));
    await until(async () => (await looking.others('left')) === 1);
    const [mark = ''] = await marks(path);
    await rm(join(path, 'data', mark));
    await until(async () => (await marks(path)).length === 1);
    expect(await marks(path)).not.toEqual([mark]);
    await service.stop();
    expect(await marks(path)).toEqual([]);
  });
});

describe('doctor', () => {
  it('finds all well in an empty folder, and makes nothing there', async () => {
    const path = await folder();
    const [code, report] = await doctor(path);
    expect([code, report.isWell]).toEqual([0, true]);
    expect(await readdir(path)).toEqual([]);
  });

  it('says what is wrong in words, with exit code 1', async () => {
    const path = await folder();
    const { code, stdout, stderr } = await petstore(path, ['doctor'], {
      DATABASE_URL: 'sqlite:/dev/null/x.sqlite',
      REDIS_URL: 'redis://127.0.0.1:1',
    });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^database +wrong +.*\/dev\/null/m);
    expect(stdout).toMatch(/^redis +wrong +it takes no counts: .*ECONNREFUSED.*REDIS_URL/m);
    expect(stderr).toContain('Something is wrong');
  });

  it('says so while another process has the database locked', async () => {
    const path = await folder();
    await petstore(path, ['db', 'migrate']);
    const other = new sqlite3.Database(join(path, 'data/petstore.sqlite'));
    await new Promise((resolve) => other.exec('BEGIN IMMEDIATE', resolve));
    const [code, report] = await doctor(path);
    other.close();
    expect([code, stateOf(report, 'database'), stateOf(report, 'integrity')]).toEqual([1, 'wrong', 'well']);
  });

  it('looks at every part of a store', async () => {
    const path = await folder();
    await petstore(path, ['db', 'migrate']);
    const [code, report] = await doctor(path);
    expect(code).toBe(0);
    expect(report.findings.map(({ check, state }) => [check, state])).toEqual([
      ['node', 'well'],
      ['declarations', 'well'],
      ['settings', 'well'],
      ['ports', 'well'],
      ['ports', 'well'],
      ['database', 'well'],
      ['integrity', 'well'],
      ['migrations', 'well'],
      ['entities', 'well'],
      ['rights', 'well'],
      ['disk', 'well'],
      ['processes', 'well'],
      ['clock', 'well'],
      ['redis', 'skipped'],
    ]);
  });
});

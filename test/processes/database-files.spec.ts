import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import sqlite3 from 'sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { emptyFolder, ServiceProcess } from '../support/service-process.js';
import { TestService } from '../kit/test-service.js';

/** Longest that the service is waited for, in milliseconds. */
const PATIENCE_MS = 60_000;

/** A folder of its own, and in it a database with a client and a key that no quota stops. */
async function prepare(name = 'store.sqlite') {
  const { path: folder, remove } = await emptyFolder();
  onTestFinished(remove);
  const file = join(folder, name);
  mkdirSync(join(file, '..'), { recursive: true });
  return { folder, file, key: await withKey(file) };
}

async function withKey(file: string): Promise<string> {
  const service = await TestService.open({
    plan: 'enterprise',
    limits: { perMinute: 1_000_000, perDay: 1_000_000 },
    environment: { DATABASE_URL: `sqlite:${file}` },
  });
  await service.close();
  return service.key;
}

/** The started service, and a client of it. */
class Shop {
  private constructor(
    readonly service: ServiceProcess,
    private readonly key: string,
  ) {}

  static async open(folder: string, file: string, key: string): Promise<Shop> {
    const service = await ServiceProcess.start(folder, {
      NODE_ENV: 'test',
      DATABASE_URL: `sqlite:${file}`,
    });
    onTestFinished(() => service.signal('SIGKILL'));
    return new Shop(service, key);
  }

  async request(method: string, path: string, body?: object) {
    const response = await fetch(this.service.url + path, {
      method,
      headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return {
      status: response.status,
      retryAfter: response.headers.get('retry-after'),
      body: await response.json(),
    };
  }

  add(name: string) {
    return this.request('POST', '/v1/pets', { name, categoryId: 1 });
  }

  async names(): Promise<string[]> {
    const { body } = await this.request('GET', '/v1/pets?limit=100');
    return (body as { name: string }[]).map(({ name }) => name);
  }

  /** Waits until /health/ready answers so. */
  async isReady(expected: boolean): Promise<void> {
    await until(async () => ((await this.request('GET', '/health/ready')).status === 200) === expected);
  }

  /** What the log tells of the database. */
  linesOfDatabase(): { level: number; msg: string }[] {
    return this.service.output
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { level: number; msg: string; context?: string })
      .filter(({ context }) => context === 'Database');
  }
}

/** Waits until a file has had the same bytes for so long. */
async function isUnchanged(file: string, forMs: number): Promise<void> {
  let seen = readFileSync(file);
  let since = performance.now();
  await until(() => {
    const now = readFileSync(file);
    if (!now.equals(seen)) [seen, since] = [now, performance.now()];
    return performance.now() - since > forMs;
  });
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const limit = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > limit) throw new Error('It did not come about in time.');
    await setTimeout(50);
  }
}

/** Runs a statement as another process, and answers its rows. */
async function run<Row>(file: string, sql: string): Promise<Row[]> {
  const other = new sqlite3.Database(file);
  try {
    return await new Promise((resolve, reject) => {
      other.all<Row>(sql, (error, rows) => (error ? reject(error) : resolve(rows)));
    });
  } finally {
    await new Promise((resolve) => other.close(resolve));
  }
}

async function commit(file: string, name: string): Promise<void> {
  await run(file, `INSERT INTO pets (name, category_id, status) VALUES ('${name}', 1, 'sold')`);
}

async function allNames(file: string): Promise<Set<string>> {
  const rows = await run<{ name: string }>(file, 'SELECT name FROM pets');
  return new Set(rows.map(({ name }) => name));
}

describe('a database behind a link', () => {
  it.each([
    [
      'a link to the file',
      (folder: string) => symlinkSync(join(folder, 'real/a.sqlite'), join(folder, 'link')),
    ],
    ['a relative link', (folder: string) => symlinkSync('real/a.sqlite', join(folder, 'link'))],
    [
      'a chain of links',
      (folder: string) => {
        symlinkSync('second', join(folder, 'link'));
        symlinkSync(join(folder, 'real/a.sqlite'), join(folder, 'second'));
      },
    ],
    [
      'a link in a folder that is a link',
      (folder: string) => {
        symlinkSync('real', join(folder, 'folder'));
        symlinkSync('folder/a.sqlite', join(folder, 'link'));
      },
    ],
  ])('is read anew after a commit of another process: %s', async (_, link) => {
    const { folder, file, key } = await prepare('real/a.sqlite');
    link(folder);
    const configured = join(folder, 'link');
    // What a database that once was at this path has left.
    writeFileSync(`${configured}-shm`, Buffer.alloc(32_768));
    const shop = await Shop.open(folder, configured, key);
    expect(await shop.names()).toEqual([]);
    await commit(file, 'Ada');
    expect(await shop.names()).toEqual(['Ada']);
    expect(shop.linesOfDatabase()).toEqual([]);
  });

  it('is made where a link leads that leads nowhere yet', async () => {
    const { path: folder, remove } = await emptyFolder();
    onTestFinished(remove);
    mkdirSync(join(folder, 'real'));
    symlinkSync('real/a.sqlite', join(folder, 'link'));
    writeFileSync(join(folder, 'link-shm'), Buffer.alloc(32_768));
    const service = await ServiceProcess.start(folder, { DATABASE_URL: 'sqlite:link' });
    onTestFinished(() => service.signal('SIGKILL'));
    const [key] = /pst_test_\w+/.exec(service.output) ?? [''];
    const first = async () => {
      const response = await fetch(`${service.url}/v1/pets?status=sold`, {
        headers: { authorization: `Bearer ${key}` },
      });
      return JSON.stringify(await response.json());
    };
    expect(await first()).not.toContain('Ada');
    await commit(join(folder, 'real/a.sqlite'), 'Ada');
    expect(await first()).toContain('Ada');
  });
});

interface Fault {
  /** What is done to the file; `backup` is another one, which was made of it before. */
  readonly make: (file: string, backup: string) => void;
  /** Undoes it, where that is possible. */
  readonly undo?: (file: string) => void;
}

const FAULTS: Readonly<Record<string, Fault>> = {
  'the file was moved away': {
    make: (file) => renameSync(file, `${file}.away`),
    undo: (file) => renameSync(`${file}.away`, file),
  },
  'a backup was moved in its place': {
    make: (file, backup) => {
      renameSync(file, `${file}.away`);
      renameSync(backup, file);
    },
    undo: (file) => renameSync(`${file}.away`, file),
  },
  'the file was removed': { make: (file) => rmSync(file) },
  'the file and its log were removed': {
    make: (file) => ['', '-wal', '-shm'].forEach((suffix) => rmSync(file + suffix)),
  },
  'a backup was copied over it': { make: (file, backup) => copyFileSync(backup, file) },
  'the file was cut': { make: (file) => truncateSync(file) },
  'the log was moved away': {
    make: (file) => renameSync(`${file}-wal`, `${file}-wal.away`),
    undo: (file) => renameSync(`${file}-wal.away`, `${file}-wal`),
  },
  'the log was cut': { make: (file) => truncateSync(`${file}-wal`) },
  'the index of the log was moved away': {
    make: (file) => renameSync(`${file}-shm`, `${file}-shm.away`),
    undo: (file) => renameSync(`${file}-shm.away`, `${file}-shm`),
  },
};

describe('a service whose database', () => {
  it.each(Object.entries(FAULTS))(
    'is not the one that was opened says so and answers nothing from it: %s',
    async (_, { make, undo }) => {
      const { folder, file, key } = await prepare();
      const backup = join(folder, 'backup.sqlite');
      copyFileSync(file, backup);
      const shop = await Shop.open(folder, file, key);
      expect((await shop.add('Ada')).status).toBe(201);
      expect(await shop.names()).toEqual(['Ada']);
      // The file on the disk moves on, and the service looks at it with its next commit.
      await run(file, 'PRAGMA wal_checkpoint(PASSIVE)');
      expect((await shop.add('Ben')).status).toBe(201);
      make(file, backup);
      await shop.isReady(false);
      const ready = await shop.request('GET', '/health/ready');
      expect(ready.body).toMatchObject({ code: 'service_unavailable' });
      expect((ready.body as { message: string }).message).toContain('database');
      // Also what is cached is not answered: who reads would take it for what is in the new file.
      for (const [method, body] of [['GET'], ['POST', { name: 'Eve', categoryId: 1 }]] as const)
        expect(await shop.request(method, '/v1/pets?limit=100', body)).toMatchObject({
          status: 503,
          retryAfter: '1',
          body: { code: 'service_unavailable' },
        });
      expect((await shop.request('GET', '/health/live')).status).toBe(200);
      await expect
        .poll(() => shop.linesOfDatabase())
        .toEqual([expect.objectContaining({ msg: expect.stringContaining(file) })]);
      if (undo) {
        undo(file);
        await shop.isReady(true);
        expect((await shop.add('Cid')).status).toBe(201);
        expect(await shop.names()).toEqual(['Ada', 'Ben', 'Cid']);
        expect(shop.linesOfDatabase()).toHaveLength(2);
      }
      expect((await shop.service.stop()).code).toBe(0);
    },
  );

  it('is moved away under load has everything that was acknowledged once it is back', async () => {
    const { folder, file, key } = await prepare();
    const shop = await Shop.open(folder, file, key);
    const acknowledged: string[] = [];
    const load = { isAway: false, isOver: false };
    const writer = async (name: string) => {
      for (let written = 0; !load.isOver; written += 1) {
        const sentAfter = load.isAway;
        const { status } = await shop.add(`${name}${written}`);
        expect([201, 503]).toContain(status);
        if (status === 201) acknowledged.push(`${name}${written}`);
        // Not one that was sent after the file had gone.
        if (status === 201) expect(sentAfter).toBe(false);
      }
    };
    const writers = ['a', 'b', 'c', 'd'].map(writer);
    await until(() => acknowledged.length > 30);
    renameSync(file, `${file}.away`);
    load.isAway = true;
    await shop.isReady(false);
    load.isOver = true;
    await Promise.all(writers);
    await shop.service.stop('SIGKILL');
    renameSync(`${file}.away`, file);
    const found = await allNames(file);
    expect(acknowledged.filter((name) => !found.has(name))).toEqual([]);
  });

  it('was overwritten by a backup does not write its log into that when it is stopped', async () => {
    const { folder, file, key } = await prepare();
    const backup = join(folder, 'backup.sqlite');
    copyFileSync(file, backup);
    const shop = await Shop.open(folder, file, key);
    expect((await shop.add('Ada')).status).toBe(201);
    await run(file, 'PRAGMA wal_checkpoint(PASSIVE)');
    expect((await shop.add('Ben')).status).toBe(201);
    copyFileSync(backup, file);
    await shop.isReady(false);
    expect((await shop.service.stop()).code).toBe(0);
    expect(readFileSync(file).equals(readFileSync(backup))).toBe(true);
  });

  it('has its log cut while it writes acknowledges nothing from then on, and is sound after a stop', async () => {
    const { folder, file, key } = await prepare();
    await commit(file, 'Before');
    const shop = await Shop.open(folder, file, key);
    for (let written = 0; written < 20; written += 1) await shop.add(`a${written}`);
    truncateSync(`${file}-wal`);
    // It meets the end of the log, and the disk is not to be blamed for it.
    expect((await shop.request('GET', '/v1/pets?limit=100')).status).toBe(503);
    // Each would write on behind what is gone, and make the log as long as it was.
    for (let written = 0; written < 20; written += 1)
      expect((await shop.add(`b${written}`)).status).toBe(503);
    expect((await shop.request('GET', '/health/ready')).status).toBe(503);
    expect((await shop.service.stop()).code).toBe(0);
    expect(shop.linesOfDatabase()).toEqual([
      expect.objectContaining({ msg: expect.stringContaining(`${file}-wal was cut`) }),
    ]);
    for (const beside of ['-wal', '-shm']) rmSync(`${file}${beside}`, { force: true });
    expect(await run(file, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    expect(await allNames(file)).toContain('Before');
  });

  it('lost its log has everything that was acknowledged after a stop with SIGTERM', async () => {
    const { folder, file, key } = await prepare();
    const shop = await Shop.open(folder, file, key);
    const acknowledged: string[] = [];
    for (let written = 0; written < 30; written += 1)
      if ((await shop.add(`a${written}`)).status === 201) acknowledged.push(`a${written}`);
    rmSync(`${file}-wal`);
    await shop.isReady(false);
    expect((await shop.service.stop()).code).toBe(0);
    const found = await allNames(file);
    expect(acknowledged).toHaveLength(30);
    expect(acknowledged.filter((name) => !found.has(name))).toEqual([]);
  });
});

describe('an index of the log that was cut', () => {
  it('ends a service under load by SIGBUS, and the next start has everything that was acknowledged', async () => {
    const { folder, file, key } = await prepare();
    const shop = await Shop.open(folder, file, key);
    const acknowledged: string[] = [];
    const ended = shop.service.ended;
    const writer = async (name: string) => {
      for (let written = 0; ; written += 1) {
        const answer = await shop.add(`${name}${written}`).catch(() => undefined);
        if (answer?.status === 201) acknowledged.push(`${name}${written}`);
        if (!answer || answer.status === 503) return;
      }
    };
    const writers = ['a', 'b', 'c', 'd'].map(writer);
    await until(() => acknowledged.length > 30);
    truncateSync(`${file}-shm`);
    await Promise.all(writers);
    // SQLite may not have touched it before it was noticed: then everything is refused.
    shop.service.signal('SIGTERM');
    const { code, signal } = await ended;
    expect([code, signal]).toEqual(code === 0 ? [0, null] : [null, 'SIGBUS']);
    const again = await Shop.open(folder, file, key);
    expect((await again.add('Eve')).status).toBe(201);
    await again.service.stop();
    expect(existsSync(`${file}-wal`)).toBe(false);
    const found = await allNames(file);
    expect(acknowledged.filter((name) => !found.has(name))).toEqual([]);
  });

  it('is noticed by a service that has nothing to do, which then answers 503 and ends cleanly', async () => {
    const { folder, file, key } = await prepare();
    const shop = await Shop.open(folder, file, key);
    await shop.names();
    // Counts and last uses of the request are written within a second or two.
    await isUnchanged(`${file}-shm`, 2_500);
    truncateSync(`${file}-shm`);
    await until(() => shop.linesOfDatabase().length > 0);
    expect((await shop.request('GET', '/v1/pets')).status).toBe(503);
    expect((await shop.service.stop()).code).toBe(0);
  });
});

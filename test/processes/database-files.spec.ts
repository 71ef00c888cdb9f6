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
import { describe, expect, it } from 'vitest';
import { keepDoing } from '../support/keep-doing.js';
import { folderOfTest, petstore, serviceOfTest, type ServiceProcess } from '../support/service-process.js';
import { onFile, rowsOf } from '../support/sqlite-file.js';
import { TestService } from '../kit/test-service.js';
import { UNLIMITED } from '../support/opened.js';

/** Of a page of SQLite, in bytes. */
const PAGE_BYTES = 4_096;
const UNAVAILABLE = { code: 'service_unavailable' };

const environmentOf = (file: string) => ({ NODE_ENV: 'test', DATABASE_URL: `sqlite:${file}` });

/** A folder of its own, and in it a database with a client and a key that no quota stops. */
async function prepare(name = 'store.sqlite') {
  const folder = await folderOfTest();
  const file = join(folder, name);
  mkdirSync(join(file, '..'), { recursive: true });
  const service = await TestService.open({
    ...UNLIMITED,
    environment: { DATABASE_URL: `sqlite:${file}` },
  });
  await service.close();
  return { folder, file, key: service.key };
}

/** The started service, and a client of it. */
class Shop {
  private constructor(
    readonly service: ServiceProcess,
    private readonly key: string,
  ) {}

  static async open(folder: string, file: string, key: string): Promise<Shop> {
    return new Shop(await serviceOfTest(folder, environmentOf(file)), key);
  }

  async request(method: string, path: string, json?: object) {
    const { key } = this;
    const { status, headers, body } = await this.service.request(method, path, { key, json });
    return { status, retryAfter: headers.get('retry-after'), body };
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
    const isReady = async () => (await this.request('GET', '/health/ready')).status === 200;
    await expect.poll(isReady, { interval: 50 }).toBe(expected);
  }

  /** The log lines about the database, except those about a busy machine. */
  warnings(): string[] {
    return this.service.warnings.filter((msg) => !/write lock|Old rows/.test(msg));
  }
}

/** Four clients that add animals; with `mayEnd`, the service may end as well. */
function writing(shop: Shop, { mayEnd = false } = {}) {
  const acknowledged: string[] = [];
  /** Whether nothing that is sent from now on may be acknowledged. */
  const state = { isRefused: false };
  const end = keepDoing(4, async (client, at) => {
    const { isRefused } = state;
    const name = `${client}-${at}`;
    const status = await shop.add(name).then(
      (response) => response.status,
      () => (mayEnd ? 503 : 0),
    );
    expect([isRefused ? 503 : 201, 503]).toContain(status);
    if (status === 201) acknowledged.push(name);
  });
  const isUnderWay = async () => {
    await expect.poll(() => acknowledged.length, { interval: 10 }).toBeGreaterThan(30);
  };
  /** The animals that were acknowledged and are not in the file. */
  const lostFrom = async (file: string) => {
    const rows = await rowsOf<{ name: string }>(file, 'SELECT name FROM pets');
    const found = new Set(rows.map(({ name }) => name));
    return acknowledged.filter((name) => !found.has(name));
  };
  return { state, end, isUnderWay, lostFrom };
}

async function commit(file: string, name: string): Promise<void> {
  await onFile(file, `INSERT INTO pets (name, category_id, status) VALUES ('${name}', 1, 'sold')`);
}

describe('a database behind a link', () => {
  it('is read again after a commit of another process, through a chain of links and a linked folder', async () => {
    const { folder, file, key } = await prepare('real/a.sqlite');
    symlinkSync('real', join(folder, 'folder'));
    symlinkSync('second', join(folder, 'link'));
    symlinkSync(join(folder, 'folder/a.sqlite'), join(folder, 'second'));
    const configured = join(folder, 'link');
    // What a database that once was at this path has left.
    writeFileSync(`${configured}-shm`, Buffer.alloc(32_768));
    const shop = await Shop.open(folder, configured, key);
    expect(await shop.names()).toEqual([]);
    await commit(file, 'Ada');
    expect(await shop.names()).toEqual(['Ada']);
    expect(shop.warnings()).toEqual([]);
  });

  it('is made where a link leads that leads nowhere yet', async () => {
    const folder = await folderOfTest();
    mkdirSync(join(folder, 'real'));
    symlinkSync('real/a.sqlite', join(folder, 'link'));
    writeFileSync(join(folder, 'link-shm'), Buffer.alloc(32_768));
    const service = await serviceOfTest(folder, { DATABASE_URL: 'sqlite:link' });
    const first = async () => (await service.request('GET', '/v1/pets?status=sold&limit=100')).text;
    expect(await first()).not.toContain('Ada');
    await commit(join(folder, 'real/a.sqlite'), 'Ada');
    expect(await first()).toContain('Ada');
  });
});

/** Faults of a file, of which `backup` was made before, and what undoes them, where that is possible. */
const FAULTS: readonly (readonly [
  name: string,
  make: (file: string, backup: string) => void,
  undo: ((file: string) => void) | undefined,
])[] = [
  [
    'a backup was moved in its place',
    (file, backup) => {
      renameSync(file, `${file}.away`);
      renameSync(backup, file);
    },
    (file) => renameSync(`${file}.away`, file),
  ],
  [
    'the index of the log was moved away',
    (file) => renameSync(`${file}-shm`, `${file}-shm.away`),
    (file) => renameSync(`${file}-shm.away`, `${file}-shm`),
  ],
  [
    'the file and its log were removed',
    (file) => ['', '-wal', '-shm'].forEach((suffix) => rmSync(file + suffix)),
    undefined,
  ],
];

describe('a service whose database', () => {
  it.each(FAULTS)(
    'is not the one that was opened is reported, and nothing is served from it: %s',
    async (_, make, undo) => {
      const { folder, file, key } = await prepare();
      const backup = join(folder, 'backup.sqlite');
      copyFileSync(file, backup);
      const shop = await Shop.open(folder, file, key);
      expect((await shop.add('Ada')).status).toBe(201);
      expect(await shop.names()).toEqual(['Ada']);
      // The file on the disk moves on, and the service looks at it with its next commit.
      await onFile(file, 'PRAGMA wal_checkpoint(PASSIVE)');
      expect((await shop.add('Ben')).status).toBe(201);
      make(file, backup);
      await shop.isReady(false);
      const ready = await shop.request('GET', '/health/ready');
      expect(ready.body).toMatchObject({ code: 'service_unavailable' });
      expect(ready.body.message).toContain('database');
      // Also what is cached is not answered: who reads would take it for what is in the new file.
      for (const [method, body] of [['GET'], ['POST', { name: 'Eve', categoryId: 1 }]] as const)
        expect(await shop.request(method, '/v1/pets?limit=100', body)).toMatchObject({
          status: 503,
          retryAfter: '1',
          body: UNAVAILABLE,
        });
      expect((await shop.request('GET', '/health/live')).status).toBe(200);
      await expect.poll(() => shop.warnings()).toEqual([expect.stringContaining(file)]);
      if (undo) {
        undo(file);
        await shop.isReady(true);
        expect((await shop.add('Cid')).status).toBe(201);
        expect(await shop.names()).toEqual(['Ada', 'Ben', 'Cid']);
        expect(shop.warnings()).toHaveLength(2);
      }
      expect((await shop.service.stop()).code).toBe(0);
    },
  );

  it('is damaged says so once and refuses what meets it, until a restart finds it', async () => {
    const { folder, file, key } = await prepare();
    const shop = await Shop.open(folder, file, key);
    // All but the first page, whose change would be noticed without reading what is damaged.
    writeFileSync(file, readFileSync(file).fill(0xff, PAGE_BYTES), { flag: 'r+' });
    // The service and SQLite have it in memory, until something is committed and the key is looked up again.
    await expect.poll(async () => (await shop.request('GET', '/v1/pets')).status).toBe(503);
    const refused = { status: 503, retryAfter: expect.stringMatching(/^[1-9]/), body: UNAVAILABLE };
    for (let sent = 0; sent < 20; sent += 1)
      for (const response of [await shop.add('Eve'), await shop.request('GET', '/v1/pets')])
        expect(response).toMatchObject(refused);
    const { body } = await shop.request('GET', '/health/ready');
    expect(body.message).toContain('the database file is corrupted');
    expect((await shop.request('GET', '/health/live')).status).toBe(200);
    await shop.service.stop();
    expect(shop.warnings()).toEqual([
      expect.stringMatching(/store\.sqlite is damaged \(SQLITE_.*backup.*petstore doctor/),
    ]);
    const { code, stdout } = await petstore(folder, ['doctor'], environmentOf(file));
    expect([code, stdout]).toEqual([1, expect.stringContaining('is damaged')]);
    await expect(Shop.open(folder, file, key)).rejects.toThrow('is damaged');
  });

  it('is moved away under load has everything that was acknowledged once it is back', async () => {
    const { folder, file, key } = await prepare();
    const shop = await Shop.open(folder, file, key);
    const load = writing(shop);
    await load.isUnderWay();
    renameSync(file, `${file}.away`);
    load.state.isRefused = true;
    await shop.isReady(false);
    await load.end();
    await shop.service.stop('SIGKILL');
    renameSync(`${file}.away`, file);
    expect(await load.lostFrom(file)).toEqual([]);
  });

  it('lost its log has everything that was acknowledged after a stop with SIGTERM', async () => {
    const { folder, file, key } = await prepare();
    const shop = await Shop.open(folder, file, key);
    const load = writing(shop);
    await load.isUnderWay();
    await load.end();
    rmSync(`${file}-wal`);
    await shop.isReady(false);
    expect((await shop.service.stop()).code).toBe(0);
    expect(await load.lostFrom(file)).toEqual([]);
  });
});

it('an index of the log that was cut ends a service under load by SIGBUS, and the next start has everything that was acknowledged', async () => {
  const { folder, file, key } = await prepare();
  const shop = await Shop.open(folder, file, key);
  const load = writing(shop, { mayEnd: true });
  await load.isUnderWay();
  truncateSync(`${file}-shm`);
  expect(await shop.service.ended).toMatchObject({ code: null, signal: 'SIGBUS' });
  await load.end();
  const again = await Shop.open(folder, file, key);
  expect((await again.add('Eve')).status).toBe(201);
  await again.service.stop();
  expect(existsSync(`${file}-wal`)).toBe(false);
  expect(await load.lostFrom(file)).toEqual([]);
});

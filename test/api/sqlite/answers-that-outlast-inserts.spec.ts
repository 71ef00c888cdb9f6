import fc from 'fast-check';
import { DataSource } from 'typeorm';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ApiKeysService } from '../../../src/auth/clients/api-keys.service.js';
import { SERVICE_ITSELF } from '../../../src/auth/clients/audited-changes.js';
import { Connection } from '../../../src/database/sqlite/connection.js';
import { ResponseCache } from '../../../src/http/caching/response-cache.js';
import { Pet } from '../../support/pets/pet.entity.js';
import { UNLIMITED, openForTest } from '../../support/opened.js';

/** What a walk may do to the catalogue. */
type Write =
  | { readonly kind: 'add'; readonly count: number; readonly status: string }
  | { readonly kind: 'add as' | 'change' | 'delete'; readonly id: number }
  | { readonly kind: 'add elsewhere' | 'add in a transaction' };

type Step =
  | Write
  | {
      readonly kind: 'get';
      readonly target: string;
      readonly by: 'reader' | 'writer' | 'revoked' | 'nobody';
      readonly headers: Record<string, string>;
    };

const id = fc.integer({ min: 1, max: 14 });
const statuses = fc.constantFrom('available', 'pending', 'sold');
const target = fc.oneof(
  id.map((one) => `/v1/pets/${one}`),
  fc
    .tuple(fc.integer({ min: 1, max: 4 }), fc.option(statuses))
    .map(([limit, status]) => `/v1/pets?limit=${limit}${status === null ? '' : `&status=${status}`}`),
  fc.constantFrom('/v1/pets', '/v1/pets/99', '/v1/pets?limit=0', 'the next page'),
);
const headers = fc.constantFrom<Record<string, string>>(
  {},
  { accept: 'text/html' },
  { accept: 'application/json' },
  { 'if-none-match': '*' },
  { 'if-none-match': '"other"' },
  { origin: 'https://shop.example' },
);
const by = fc.oneof(
  { weight: 6, arbitrary: fc.constant('reader' as const) },
  { weight: 1, arbitrary: fc.constantFrom('writer' as const, 'revoked' as const, 'nobody' as const) },
);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ kind: fc.constant('get' as const), target, by, headers }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      count: fc.integer({ min: 1, max: 3 }),
      status: statuses,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('add as' as const, 'change' as const, 'delete' as const),
      id,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('add elsewhere' as const, 'add in a transaction' as const),
    }),
  },
);

async function open() {
  // A database in a file, whose commits are told apart.
  const service = await openForTest({
    database: 'file',
    environment: { CORS_ORIGINS: 'https://shop.example' },
    ...UNLIMITED,
  });
  const pets = service.repository(Pet);
  const add = async (name: string, status = 'available') => {
    const response = await service.request('POST', '/v1/pets', { json: { name, categoryId: 1, status } });
    expect(response.status).toBe(201);
  };
  const cache = service.app.get(ResponseCache);
  return { service, pets, add, cache };
}

describe('responses from the cache during inserts', () => {
  it('are those of the database, whatever is written', async () => {
    const { service, pets, add, cache } = await open();
    const { manager } = service.app.get(DataSource);
    const row = { name: 'Row', categoryId: 1n, status: 'available' as const };
    let next: string | undefined;
    const write: { readonly [Kind in Write['kind']]: (one: Write & { kind: Kind }) => Promise<unknown> } = {
      add: ({ count, status }) => Promise.all(Array.from({ length: count }, () => add('Added', status))),
      'add as': (one) => pets.insert({ ...row, id: BigInt(one.id) }).catch(() => undefined),
      change: (one) => pets.update({ id: BigInt(one.id) }, { name: 'Changed', status: 'sold' }),
      delete: (one) => pets.delete({ id: BigInt(one.id) }),
      'add elsewhere': () =>
        manager.query(`INSERT INTO pets (name, category_id, status) VALUES ('Query', 1, 'sold')`),
      'add in a transaction': () => manager.transaction((own) => own.insert(Pet, { ...row })),
    };
    const [writer, revoked] = [
      await service.issueKey({ scopes: ['pets:write'] }),
      await service.issueKey({ scopes: ['pets:read'] }),
    ];
    expect((await service.request('GET', '/v1/pets', { key: revoked.key })).status).toBe(200);
    await service.app.get(ApiKeysService).revoke(revoked.id, {}, SERVICE_ITSELF);
    const keys = { reader: service.key, writer: writer.key, revoked: revoked.key, nobody: null };
    /** What a client can see of a response, except for what differs each time. */
    const seen = async ({ target: wanted, by: who, headers: sent }: Step & { kind: 'get' }) => {
      const path = wanted === 'the next page' ? (next ?? '/v1/pets') : wanted;
      service.clock.advance(1_000);
      const {
        status,
        text,
        headers: got,
      } = await service.request('GET', path, { key: keys[who], headers: sent });
      const shown = [...got].filter(
        ([name]) => !/^date|^x-request-id|^connection|^keep-alive|ratelimit|^retry-after/.test(name),
      );
      return { path, status, text, headers: Object.fromEntries(shown) };
    };
    /** The same without the cache. */
    const read = async (one: Step & { kind: 'get' }) => {
      const uncached = [
        vi.spyOn(cache, 'wrap').mockImplementation(async (_response, _versions, handler) => handler()),
        vi.spyOn(cache, 'find').mockReturnValue(undefined),
      ];
      try {
        return await seen(one);
      } finally {
        for (const spy of uncached) spy.mockRestore();
      }
    };
    const before = cache.use.hits;
    await fc.assert(
      fc
        .asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
          for (const one of steps) {
            if (one.kind !== 'get') {
              await write[one.kind](one as never);
              continue;
            }
            // The second one is from the cache.
            const [cached, again] = [await seen(one), await seen(one)];
            const plain = await read(one);
            expect([cached, again]).toEqual([plain, plain]);
            next = /<([^>]*)>; rel="next"/.exec(cached.headers['link'] ?? '')?.[1] ?? next;
          }
        })
        .beforeEach(async () => {
          await manager.query('DELETE FROM pets');
          await manager.query(`DELETE FROM sqlite_sequence WHERE name = 'pets'`);
        }),
      { numRuns: 25 },
    );
    expect(cache.use.hits).toBeGreaterThan(before);
  });

  it('survive them, if they would not contain the new rows', async () => {
    const { service, pets, add, cache } = await open();
    for (let count = 0; count < 5; count += 1) await add('First', count % 2 ? 'sold' : 'available');
    const [first] = await pets.find({ order: { id: 'ASC' }, take: 1 });
    const targets = {
      retained: [
        `/v1/pets/${first?.id}`,
        '/v1/pets?limit=2',
        '/v1/pets?limit=4',
        '/v1/pets?limit=2&status=available',
      ],
      void: ['/v1/pets?limit=5', '/v1/pets', '/v1/pets?limit=2&status=sold', '/v1/pets?status=pending'],
    };
    const isRead = async (path: string) => {
      const { misses } = cache.use;
      expect((await service.request('GET', path)).status).toBe(200);
      return cache.use.misses > misses;
    };
    for (const path of [...targets.retained, ...targets.void])
      expect([path, await isRead(path)]).toEqual([path, true]);
    await add('New', 'sold');
    for (const path of targets.retained) expect([path, await isRead(path)]).toEqual([path, false]);
    for (const path of targets.void) expect([path, await isRead(path)]).toEqual([path, true]);
    await pets.update({ id: first?.id ?? 0n }, { name: 'Other' });
    for (const path of targets.retained) expect([path, await isRead(path)]).toEqual([path, true]);
  });

  it('do not outlast a change by another process, whose commit comes between those of the inserts', async () => {
    const { service, pets, add } = await open();
    await add('First');
    const [first] = await pets.find({ take: 1 });
    const path = `/v1/pets/${first?.id}`;
    const other = await Connection.open(String(service.app.get(DataSource).options.database), 'write');
    onTestFinished(() => other.close());
    const updates = new AbortController();
    const inserts = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (!updates.signal.aborted) await add('Added');
      }),
    );
    try {
      for (let count = 0; count < 300; count += 1) {
        const name = `Name ${count}`;
        await other.all(`UPDATE pets SET name = '${name}' WHERE id = ${first?.id}`);
        expect((await service.request('GET', path)).body).toMatchObject({ name });
      }
    } finally {
      updates.abort();
      await inserts;
    }
  });

  it('do not survive inserts by a trigger, from its creation on', async () => {
    const { service, add } = await open();
    const names = async () =>
      ((await service.request('GET', '/v1/pets?limit=2')).body as { name: string }[]).map(({ name }) => name);
    for (const name of ['A', 'B', 'C']) await add(name);
    expect(await names()).toEqual(['A', 'B']);
    const dataSource = service.app.get(DataSource);
    await dataSource.query(
      `CREATE TRIGGER renaming AFTER INSERT ON Pets BEGIN UPDATE pets SET name = new.name || ' was added' WHERE name = 'A'; END`,
    );
    expect(await names()).toEqual(['A', 'B']);
    await add('D');
    expect(await names()).toEqual(['D was added', 'B']);
  });
});

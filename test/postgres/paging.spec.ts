import { DataSource } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { DemoData } from '../../src/database/demo-data.js';
import { Pet } from '../support/pets/pet.entity.js';
import { TestService } from '../kit/test-service.js';
import { ON_POSTGRES, itOnSqlite, planOf, withParameters } from '../support/databases.js';
import { UNLIMITED, openForAll, openForTest } from '../support/opened.js';

const ANIMALS = 2_000;

const service = await openForAll({
  ...UNLIMITED,
  scopes: ['pets:read', 'pets:write', 'admin'],
});
await service.app.get(DemoData).add(ANIMALS);

const linksOf = (link: string | null) =>
  Object.fromEntries(
    [...(link ?? '').matchAll(/<([^>]*)>; rel="(\w+)"/g)].map(([, target, rel]) => [rel, target]),
  );

/** Follows rel next from a first page to the end; calls back between pages. */
async function walk(
  first: string,
  between: () => Promise<unknown> = async () => undefined,
): Promise<number[]> {
  const seen: number[] = [];
  let next: string | undefined = first;
  while (next !== undefined) {
    const response: Response = await fetch(service.url + next, {
      headers: { authorization: `Bearer ${service.key}` },
    });
    for (const { id } of (await response.json()) as { id: number }[]) seen.push(id);
    next = linksOf(response.headers.get('link')).next;
    await between();
  }
  return seen;
}

describe('a walk by rel="next"', () => {
  it('over many animals, while others insert, sees each that was there at the start exactly once', async () => {
    const { manager } = service.app.get(DataSource);
    let pages = 0;
    const seen = await walk('/v1/pets?limit=20', async () => {
      pages += 1;
      if (pages <= 90 && pages % 3 === 0)
        await service.request('POST', '/v1/pets', { json: { name: `Late ${pages}`, categoryId: 1 } });
      // Somebody writes an animal with their own id, before and behind where the walk is.
      if (pages === 50) await manager.insert(Pet, { id: -5n, name: 'Early', categoryId: 1n, status: 'sold' });
    });
    expect(pages).toBeGreaterThanOrEqual(100);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((id) => id <= ANIMALS && id > 0)).toEqual(
      Array.from({ length: ANIMALS }, (_, index) => index + 1),
    );
  });

  it('over one status keeps the filter and the limit', async () => {
    const { body, headers } = await service.request('GET', '/v1/pets?status=pending&limit=3');
    const { next, first } = linksOf(headers.get('link'));
    expect(first).toBe('/v1/pets?status=pending&limit=3');
    expect(next).toMatch(/^\/v1\/pets\?status=pending&limit=3&cursor=[\w-]+$/);
    const second = await service.request('GET', next ?? '');
    const all = [...body, ...second.body] as { id: number; status: string }[];
    expect(all.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 'pending'));
    expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).toSorted((a, b) => a - b));
    expect(new Set(all.map(({ id }) => id)).size).toBe(6);
  });

  it('is linked only with the parameters of the list, no matter how many are sent', async () => {
    const target = `/v1/pets?${'"'.repeat(1_500)}&status=sold&color=red&limit=3&${'b&'.repeat(1_500)}`;
    const { headers } = await service.request('GET', target);
    const { next, first } = linksOf(headers.get('link'));
    expect(first).toBe('/v1/pets?status=sold&limit=3');
    expect(next).toMatch(/^\/v1\/pets\?status=sold&limit=3&cursor=[\w-]+$/);
    expect((await service.request('GET', next ?? '')).body).toHaveLength(3);
  });

  itOnSqlite(
    'is linked below the path of PUBLIC_BASE_URL, whose cursors are those of the list without it',
    async () => {
      const environment = { PUBLIC_BASE_URL: 'https://shop.example/animals/v1' };
      const prefixed = await openForTest({ environment });
      await prefixed.app.get(DemoData).add();
      const { headers } = await prefixed.request('GET', '/v1/pets?limit=3');
      const { next = '', first } = linksOf(headers.get('link'));
      expect(first).toBe('/animals/v1/pets?limit=3');
      expect(next).toMatch(/^\/animals\/v1\/pets\?limit=3&cursor=[\w-]+$/);
      const second = await prefixed.request('GET', next.slice('/animals'.length));
      expect(second.body).toHaveLength(3);
    },
  );

  it('may change the limit on its way', async () => {
    const { headers } = await service.request('GET', '/v1/pets?limit=1');
    const cursor = new URL(linksOf(headers.get('link')).next ?? '', 'http://x').searchParams.get('cursor');
    const { body } = await service.request('GET', `/v1/pets?limit=5&cursor=${cursor}`);
    expect(body).toHaveLength(5);
  });

  it('ends without a link, also where the last page is full', async () => {
    const few = await openForTest();
    await few.app.get(DemoData).add(20);
    expect((await few.request('GET', '/v1/pets?limit=20')).headers.get('link')).toBeNull();
    expect((await few.request('GET', '/v1/pets?limit=19')).headers.get('link')).toContain('rel="next"');
    expect((await few.request('GET', '/v1/pets?limit=100')).headers.get('link')).toBeNull();
  });

  it('passes the ends of int64', async () => {
    const few = await TestService.open();
    const { manager } = few.app.get(DataSource);
    for (const id of [-(2n ** 63n), -1n, 2n ** 63n - 2n, 2n ** 63n - 1n])
      await manager.query(
        withParameters('INSERT INTO pets (id, name, category_id, status) VALUES (?, ?, 1, ?)'),
        [id.toString(), 'A', 'sold'],
      );
    const ids: string[] = [];
    let next: string | undefined = '/v1/pets?limit=1';
    while (next !== undefined) {
      const page = await few.request('GET', next);
      ids.push(/"id":(-?\d+)/.exec(page.text)?.[1] ?? '');
      next = linksOf(page.headers.get('link')).next;
    }
    expect(ids).toEqual(['-9223372036854775808', '-1', '9223372036854775806', '9223372036854775807']);
    await few.close();
  });
});

it.each(['clients', 'usage', 'keys', 'audit'])('a walk over /admin/%s has each once', async (path) => {
  for (let made = 0; made < 7; made += 1) {
    await service.issueKey({ plan: 'free' });
    if (made % 3 === 0) service.clock.advance(1);
  }
  const walked = (limit: number) => service.everyPage(`/admin/${path}?limit=${limit}`);
  const ids = (await walked(100)).map(({ id }: { id: unknown }) => id);
  expect(ids.length).toBeGreaterThan(7);
  expect(new Set(ids).size).toBe(ids.length);
  expect((await walked(3)).map(({ id }: { id: unknown }) => id)).toEqual(ids);
});

describe('a cursor', () => {
  it.each([
    ['of another filter', (cursor: string) => `/v1/pets?status=sold&cursor=${cursor}`],
    ['of another list', (cursor: string) => `/admin/clients?cursor=${cursor}`],
    ['of another list with another filter', (cursor: string) => `/admin/usage?days=2&cursor=${cursor}`],
    ['cut short', (cursor: string) => `/v1/pets?cursor=${cursor.slice(0, -1)}`],
    ['made up', () => '/v1/pets?cursor=bm9uc2Vuc2U'],
    ['empty', () => '/v1/pets?cursor='],
    ['sent twice', (cursor: string) => `/v1/pets?cursor=${cursor}&cursor=${cursor}`],
  ])('%s is a 400', async (_, targetOf) => {
    const { headers } = await service.request('GET', '/v1/pets?limit=1');
    const cursor =
      new URL(linksOf(headers.get('link')).next ?? '', 'http://x').searchParams.get('cursor') ?? '';
    const { status, body } = await service.request('GET', targetOf(cursor));
    expect([status, body.details]).toEqual([
      400,
      [{ field: 'cursor', code: 'broken_cursor', message: expect.stringMatching(/from this list/) }],
    ]);
  });
});

describe('the query plan', () => {
  it.each(['', 'status=sold'])(
    'of the list with filter "%s" is one search in an index, without a scan or a sort',
    async (filter) => {
      const first = await service.request('GET', `/v1/pets?limit=20&${filter}`);
      const dataSource = service.app.get(DataSource);
      const queries: { sql: string; parameters: unknown[] }[] = [];
      const { logger } = dataSource;
      dataSource.logger = new Proxy(logger, {
        get: (target, name) =>
          name === 'logQuery'
            ? (sql: string, parameters: unknown[]) => queries.push({ sql, parameters })
            : Reflect.get(target, name),
      });
      for (const target of [`/v1/pets?limit=20&${filter}`, linksOf(first.headers.get('link')).next ?? '']) {
        queries.length = 0;
        // Another target, so that it is not answered from memory.
        expect((await service.request('GET', `${target}&asked=again`)).status).toBe(200);
        const lists = queries.filter(({ sql }) => sql.includes('FROM "pets"'));
        expect(lists).toHaveLength(1);
        const [{ sql, parameters } = { sql: '', parameters: [] }] = lists;
        const plan = await planOf(dataSource, sql, parameters);
        if (ON_POSTGRES) {
          expect(plan.join('\n')).toContain(
            filter === '' ? 'Index Scan using "PK_' : 'Index Scan using pets_status_id on pets',
          );
          expect(plan.join('\n')).not.toMatch(/Sort|Seq Scan/);
          continue;
        }
        // What SQLite does with the rows of the page, which are 21 at most, is written of subqueries.
        const ofTable = plan.filter((detail) => !/subquery|constant row|_rows$/i.test(detail));
        expect(ofTable).toEqual([
          filter === ''
            ? expect.stringMatching(/^SEARCH pets USING INTEGER PRIMARY KEY \(rowid>\?\)$/)
            : expect.stringMatching(
                /^SEARCH pets USING INDEX pets_status_id \(status=\? AND (id|rowid)>\?\)$/,
              ),
        ]);
      }
      dataSource.logger = logger;
    },
  );
});

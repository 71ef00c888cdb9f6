import { DataSource } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { unindexedLists } from '../kit/unindexed-lists.js';
import { ON_POSTGRES, itOnSqlite } from '../support/databases.js';
import { Visit, VisitsModule } from '../support/visits.js';
import { UNLIMITED, openForAll, openForTest } from '../support/opened.js';

const service = await openForAll({
  modules: [VisitsModule],
  ...UNLIMITED,
});
const row = { reason: 'a', note: null, startsAt: '2026-01-01T00:00:00.000Z', priceCents: 1n };
const states = ['requested', 'confirmed', 'done', 'requested'] as const;
await service.app
  .get(DataSource)
  .getRepository(Visit)
  .insert(states.map((state) => ({ ...row, state })));

describe('unindexedLists', () => {
  it('finds an index for every filter and order', async () => {
    expect(await unindexedLists(service)).toEqual([]);
  });

  itOnSqlite('looks at no statement of work in the background', async () => {
    const dataSource = service.app.get(DataSource);
    const scan = (): Promise<unknown> => dataSource.query('SELECT COUNT(*) FROM visits WHERE note IS NULL');
    const timer = setInterval(() => void scan(), 1);
    try {
      expect(await unindexedLists(service)).toEqual([]);
    } finally {
      clearInterval(timer);
      await scan();
    }
  });

  itOnSqlite('asks for one search by two filters where that is said', async () => {
    const together = (...pair: [string, string]) =>
      unindexedLists(service, { together: { '/v1/visits': [pair] } });
    expect(await together('state', 'maxPriceCents')).toEqual([]);
    expect((await together('state', 'colour')).join('\n')).toBe('/v1/visits has no filter colour.');
    await service.app.get(DataSource).query('DROP INDEX visits_state_price_cents');
    try {
      const faults = await unindexedLists(service, {
        together: { '/v1/visits': [['maxPriceCents', 'state']] },
      });
      expect(faults.join('\n')).toContain('no search by state and maxPriceCents');
    } finally {
      await service.app
        .get(DataSource)
        .query('CREATE INDEX visits_state_price_cents ON visits (state, price_cents, id)');
    }
  });

  it.each<[string, RegExp]>([
    ['visits_state_id', /state=[^&]*, page 1: (USE TEMP B-TREE|Sort|no search)/],
    ['visits_starts_at', /(SCAN|TEMP B-TREE|Sort|no search)/],
    ['visits_state_starts_at', /state=.*sort=startsAt.*(TEMP B-TREE|Sort|no search)/],
    ['visits_price_cents', /maxPriceCents=/],
    ['visits_reason', /reasonPrefix=/],
  ])('reports what is missing without the index %s', async (index, expected) => {
    const dataSource = service.app.get(DataSource);
    const [{ sql }] = (await dataSource.query(
      ON_POSTGRES
        ? `SELECT indexdef AS sql FROM pg_indexes WHERE indexname = $1`
        : `SELECT sql FROM sqlite_master WHERE name = ?`,
      [index],
    )) as [{ sql: string }];
    await dataSource.query(`DROP INDEX ${index}`);
    try {
      expect((await unindexedLists(service)).join('\n')).toMatch(expected);
    } finally {
      await dataSource.query(sql);
    }
  });
});

itOnSqlite('finds none among the lists of the service itself', async () => {
  expect(await unindexedLists(await openForTest())).toEqual([]);
});

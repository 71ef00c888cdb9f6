import { ApiProperty } from '@nestjs/swagger';
import { Module } from '@nestjs/common';
import {
  Between,
  Column,
  DataSource,
  Entity,
  type EntityManager,
  In,
  LessThan,
  MoreThan,
  Not,
  Raw,
  ViewColumn,
  ViewEntity,
} from 'typeorm';
import { beforeEach, describe, expect, it } from 'vitest';
import { Int64Column, Int64Key, int64Transformer } from '../../src/database/int64.js';
import { JsonRows } from '../../src/database/json-rows.js';
import { BY_INT64_ID, type PageRequest, type Position, keysetPage } from '../../src/database/keyset-page.js';
import { Sweeper } from '../../src/database/sweeper.js';
import { TablesModule } from '../../src/database/tables.module.js';
import { addedTable } from '../support/added-table.js';
import { ON_POSTGRES, itOnSqlite, withParameters } from '../support/databases.js';
import { openForAll } from '../support/opened.js';

@Entity('accounts')
class Account {
  @Int64Key()
  id!: bigint;

  @Int64Column()
  cents!: bigint;

  @Int64Column({ nullable: true })
  fee!: bigint | null;

  @Column('varchar', { nullable: true })
  note!: string | null;

  @Column('double precision', { nullable: true })
  ratio!: number | null;
}

/** Its columns are computed: SQLite converts nothing that is compared with them. */
@ViewEntity({
  name: 'balances',
  synchronize: false,
  expression: 'SELECT id + 0 AS id, cents + COALESCE(fee, 0) AS total FROM accounts',
})
class Balance {
  @ViewColumn({ transformer: int64Transformer })
  id!: bigint;

  @ViewColumn({ transformer: int64Transformer })
  total!: bigint;
}

class BalanceDto {
  @ApiProperty({ type: 'integer' })
  id!: bigint;

  @ApiProperty({ type: 'integer' })
  total!: bigint;
}

@Module({ imports: [addedTable(Account), TablesModule.forFeature({ entities: [Balance], migrations: [] })] })
class AccountsModule {}

const service = await openForAll({ modules: [AccountsModule] });
const { manager } = service.app.get(DataSource);
const accounts = manager.getRepository(Account);
await manager.query(
  'CREATE VIEW balances AS SELECT id + 0 AS id, cents + COALESCE(fee, 0) AS total FROM accounts',
);

const HUGE = 2n ** 62n + 1n;
/** 5 rows: of the first three `cents + fee` is below 10. */
const ROWS = [
  [1n, 1n, null],
  [2n, 2n, 3n],
  [3n, 4n, 5n],
  [4n, 100n, null],
  [5n, HUGE, 2n ** 40n],
] as const;
const BIG = HUGE + 2n ** 40n;

beforeEach(async () => {
  await accounts.clear();
  await manager
    .createQueryBuilder()
    .insert()
    .into(Account, ['id', 'cents', 'fee'])
    .values(ROWS.map(([id, cents, fee]) => ({ id, cents, fee })))
    .execute();
});

const TOTAL = 'cents + COALESCE(fee, 0)';
const few = [1n, 2n, 3n];
const idsOf = async (rows: Promise<readonly { id: bigint | string | number }[]>) =>
  (await rows).map(({ id }) => BigInt(id)).toSorted((a, b) => (a < b ? -1 : 1));
const query = () => accounts.createQueryBuilder('account');

describe('a bigint is compared as an integer, also with an expression', () => {
  it.each<
    [string, (of: EntityManager) => Promise<readonly { id: bigint | string | number }[]>, readonly bigint[]]
  >([
    ['where', () => query().where(`${TOTAL} < :least`, { least: 10n }).getMany(), few],
    ['a large one', () => query().where(`${TOTAL} >= :least`, { least: BIG }).getMany(), [5n]],
    ['one more than a large one', () => query().where(`${TOTAL} > :least`, { least: BIG }).getMany(), []],
    [
      'andWhere and orWhere',
      () =>
        query()
          .where('1 = 0')
          .orWhere(`${TOTAL} < :b`, { b: 10n })
          .andWhere(`${TOTAL} > :a`, { a: 1n })
          .getMany(),
      [2n, 3n],
    ],
    [
      'a list',
      () =>
        query()
          .where(`${TOTAL} IN (:...totals)`, { totals: [5n, 9n, BIG] })
          .getMany(),
      [2n, 3n, 5n],
    ],
    [
      'a number beyond 32 bits',
      () =>
        query()
          .where(`${TOTAL} < :least AND ${TOTAL} IN (:...totals)`, { least: 2 ** 40, totals: [100, 2 ** 40] })
          .getMany(),
      [4n],
    ],
    [
      'Raw',
      () =>
        accounts.findBy({ cents: Raw((column) => `${column} + COALESCE(fee, 0) < :least`, { least: 10n }) }),
      few,
    ],
    ['LessThan', () => manager.findBy(Balance, { total: LessThan(10n) }), few],
    ['MoreThan', () => manager.findBy(Balance, { total: MoreThan(BIG - 1n) }), [5n]],
    ['Between', () => manager.findBy(Balance, { total: Between(5n, 100n) }), [2n, 3n, 4n]],
    ['In', () => manager.findBy(Balance, { total: In([1n, BIG]) }), [1n, 5n]],
    ['Not(In)', () => manager.findBy(Balance, { total: Not(In([1n, BIG])) }), [2n, 3n, 4n]],
    ['a plain value', () => manager.findBy(Balance, { total: BIG }), [5n]],
    [
      'having',
      () =>
        query()
          .select('account.id', 'id')
          .groupBy('account.id')
          .having(`SUM(${TOTAL}) < :least`, { least: 10n })
          .getRawMany(),
      few,
    ],
    [
      'orderBy',
      () =>
        query()
          .orderBy(`CASE WHEN ${TOTAL} < :least THEN 0 ELSE 1 END`)
          .addOrderBy('account.id')
          .setParameter('least', 10n)
          .limit(3)
          .getMany(),
      few,
    ],
    [
      'a sub-query',
      () =>
        query()
          .where(
            (one) =>
              `account.id IN ${one.subQuery().select('b.id').from(Balance, 'b').where('b.total < :least').getQuery()}`,
          )
          .setParameter('least', 10n)
          .getMany(),
      few,
    ],
    [
      'a common table expression',
      () =>
        query()
          .addCommonTableExpression(
            accounts.createQueryBuilder('a').select('a.id', 'id').where(`${TOTAL} < :least`),
            'cheap',
          )
          .where('account.id IN (SELECT id FROM cheap)')
          .setParameter('least', 10n)
          .getMany(),
      few,
    ],
    [
      'a join',
      () =>
        query().innerJoin(Balance, 'b', 'b.id = account.id AND b.total < :least', { least: 10n }).getMany(),
      few,
    ],
    ['query()', (of) => of.query(withParameters(`SELECT id FROM accounts WHERE ${TOTAL} < ?`), [10n]), few],
    [
      'query(), beside what looks like a parameter',
      (of) =>
        of.query(
          withParameters(
            `SELECT id, '\u003F' AS "a$1", ':x' AS b /* ' */ FROM accounts -- it's\n WHERE ${TOTAL} > ?`.replaceAll(
              "'?'",
              ON_POSTGRES ? `'!'` : `'?'`,
            ),
          ),
          [BIG - 1n],
        ),
      [5n],
    ],
  ])('%s', async (_, find, expected) => {
    expect(await idsOf(find(manager))).toEqual(expected);
    // In a transaction, where it runs on the connection that writes.
    expect(await manager.transaction((within) => idsOf(find(within)))).toEqual(expected);
  });

  it('by delete() and update() of a query builder, and by a rule of the Sweeper', async () => {
    const left = async () => idsOf(accounts.find());
    const updated = await accounts
      .createQueryBuilder()
      .update()
      .set({ fee: () => 'COALESCE(fee, 0) + :more' })
      .where(`${TOTAL} < :least`, { least: 10n, more: 2n ** 33n })
      .execute();
    expect(updated.affected).toBe(3);
    expect((await accounts.findOneByOrFail({ id: 1n })).fee).toBe(2n ** 33n);
    const deleted = await accounts
      .createQueryBuilder()
      .delete()
      .where(`${TOTAL} < :least`, { least: 2n ** 33n + 6n })
      .execute();
    expect([deleted.affected, await left()]).toEqual([3, [3n, 5n]]);
    const sweeper = service.app.get(Sweeper);
    await sweeper.run({
      entity: Account,
      where: `${TOTAL} < :least`,
      parameters: () => ({ least: 2n ** 33n + 10n }),
    });
    expect(await left()).toEqual([5n]);
  });

  itOnSqlite('whatever the places and the names of the parameters', async () => {
    const one = async (sql: string, parameters: unknown) => {
      const rows = await manager.query<Record<string, unknown>[]>(sql, parameters as unknown[]);
      return Object.values(rows[0] ?? {});
    };
    const big = 2n ** 40n;
    expect(await one('SELECT ?2 > ?1, typeof(?1), typeof(?2), ?3', [1n, big, 'a'])).toEqual([
      1,
      'integer',
      'integer',
      'a',
    ]);
    expect(await one('SELECT typeof(?), typeof(?1), ?, typeof(?3)', [big, 'a', -big])).toEqual([
      'integer',
      'integer',
      'a',
      'integer',
    ]);
    expect(
      await one('SELECT typeof($a), typeof(:b), @c, $a + 1 = :b', { $a: big, ':b': big + 1n, '@c': 'c' }),
    ).toEqual(['integer', 'integer', 'c', 1]);
    expect(await one('SELECT typeof(:a), typeof(?2), typeof(:a) AS again', [big, 'b'])).toEqual([
      'integer',
      'text',
      'integer',
    ]);
    expect(
      await one('SELECT `a?`, [b?], "c?", typeof(?) FROM (SELECT 1 AS `a?`, 2 AS [b?], 3 AS "c?")', [big]),
    ).toEqual([1, 2, 3, 'integer']);
    // It is compared with a text as a parameter is, not as the result of a CAST.
    expect(await one(`SELECT CAST('0' || :n AS TEXT) = :n`, { ':n': big })).toEqual([0]);
    await expect(one('SELECT ?', [2n ** 63n])).rejects.toThrow('9223372036854775808 needs more than 64 bits');
  });
});

it('a bigint or a large number is stored as an integer, in any column', async () => {
  const id = 2n ** 61n + 1n;
  await accounts.insert({ id, cents: id, note: (2n ** 40n) as unknown as string, ratio: 2 ** 40 });
  await accounts.save({
    id: id + 1n,
    cents: (2 ** 40) as unknown as bigint,
    note: (2 ** 40) as unknown as string,
  });
  await accounts.upsert({ id, cents: id + 2n }, ['id']);
  expect(await accounts.find({ where: { id: MoreThan(5n) }, order: { id: 'ASC' } })).toEqual([
    { id, cents: id + 2n, fee: null, note: '1099511627776', ratio: 2 ** 40 },
    { id: id + 1n, cents: 2n ** 40n, fee: null, note: '1099511627776', ratio: null },
  ]);
  expect((await accounts.update({ cents: id + 2n }, { cents: id, fee: -(2n ** 63n) })).affected).toBe(1);
  expect((await accounts.increment({ id }, 'cents', String(2n ** 60n))).affected).toBe(1);
  expect(await accounts.findOneBy({ cents: id + 2n ** 60n })).toMatchObject({ fee: -(2n ** 63n) });
});

it('a Date of query() is the instant that an entity stores', async () => {
  const [row] = await manager.query<{ at: string }[]>(withParameters('SELECT CAST(? AS varchar) AS at'), [
    new Date(0),
  ]);
  expect(row?.at).toMatch(ON_POSTGRES ? /^(1970-01-01|1969-12-31)T/ : /^1970-01-01 00:00:00.000$/);
});

describe('a list of computed columns continues to its end', () => {
  const pages = async (
    page: (request: PageRequest) => Promise<{ ids: bigint[]; next: Position | undefined }>,
    rest: Omit<PageRequest, 'limit'> = {},
  ) => {
    const seen: bigint[] = [];
    let after: Position | undefined;
    do {
      const { ids, next } = await page({ ...rest, limit: 2, ...(after ? { after } : {}) });
      seen.push(...ids);
      after = next;
    } while (after && seen.length < 20);
    return seen;
  };
  const byKeyset = async (request: PageRequest) => {
    const { items, next } = await keysetPage(
      manager.createQueryBuilder(Balance, 'balance'),
      request,
      BY_INT64_ID,
    );
    return { ids: items.map(({ id }) => id), next };
  };
  const byJson = async (request: PageRequest) => {
    const { items, next } = await service.app.get(JsonRows).page(Balance, BalanceDto, request);
    return { ids: [...items.text.matchAll(/"id":(\d+)/g)].map(([, id]) => BigInt(id ?? '')), next };
  };
  const all = ROWS.map(([id]) => id);
  it.each([
    ['keysetPage()', byKeyset],
    ['JsonRows', byJson],
  ])('%s', async (_, page) => {
    expect(await pages(page)).toEqual(all);
    const order = { property: 'total', isDescending: true };
    expect(await pages(page, { order })).toEqual(all.toReversed());
    const where = [{ property: 'total', comparison: '>=', value: '9' } as const];
    expect(await pages(page, { where, order: { ...order, isDescending: false } })).toEqual([3n, 4n, 5n]);
    expect(
      await pages(page, { where: [{ property: 'total', comparison: '=', value: ['5', String(BIG)] }] }),
    ).toEqual([2n, 5n]);
    expect(
      await pages(page, { where: [{ property: 'total', comparison: '=', value: String(BIG) }] }),
    ).toEqual([5n]);
  });

  it('JsonRows finds one by its id', async () => {
    expect((await service.app.get(JsonRows).one(Balance, BalanceDto, 5n))?.text).toBe(
      `{"id":5,"total":${BIG}}`,
    );
  });
});

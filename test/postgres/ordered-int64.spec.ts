import { Column, DataSource, Entity, VirtualColumn } from 'typeorm';
import { expect, it } from 'vitest';
import { Int64Column, Int64Key } from '../../src/database/int64.js';
import { addedTable } from '../support/added-table.js';
import { openForAll } from '../support/opened.js';

@Entity('authors')
class Author {
  @Int64Key()
  id!: bigint;

  @Column('varchar')
  name!: string;

  @Int64Column()
  bytes!: bigint;

  @VirtualColumn({
    type: 'bigint',
    query: (alias) => `SELECT ${alias}.bytes + 1`,
    transformer: { from: (v: string) => BigInt(v), to: String },
  })
  most!: bigint;
}
const service = await openForAll({ modules: [addedTable(Author)] });
const { manager } = service.app.get(DataSource);
const LARGE = 2n ** 62n + 6n;
const SORTED = [-5n, 9n, 10n, 100n];
await manager.insert(
  Author,
  SORTED.toReversed().map((id) => ({ id, name: `${id}`, bytes: id === 100n ? LARGE : id })),
);

const by = (...columns: string[]) => manager.createQueryBuilder(Author, 'a').select(columns);
it.each<[how: string, find: () => Promise<Author[]>]>([
  ['an id', () => manager.find(Author, { order: { id: 'ASC' } })],
  ['a selected id', () => manager.find(Author, { select: { id: true }, order: { id: 'ASC' } })],
  [
    'a selected column',
    () => manager.find(Author, { select: { id: true, bytes: true }, order: { bytes: 'ASC' } }),
  ],
  [
    'a selected computed one',
    () => manager.find(Author, { select: { id: true, most: true }, order: { most: 'ASC' } }),
  ],
  ['a column of a query builder', () => by('a.id', 'a.bytes').orderBy('a.bytes').getMany()],
  ['a computed one of a query builder', () => by('a.id', 'a.most').orderBy('a.most').getMany()],
  ['a column that is paged', () => by('a.id', 'a.bytes').orderBy('a.bytes').take(4).skip(0).getMany()],
])('rows are ordered by %s as numbers', async (_, find) => {
  expect((await find()).map(({ id }) => id)).toEqual(SORTED);
});

it('raw rows are ordered by the name of a selected column as numbers', async () => {
  const rows = await manager
    .createQueryBuilder(Author, 'a')
    .select('a.bytes', 'b')
    .orderBy('b', 'DESC')
    .getRawMany<{ b: string }>();
  expect(rows).toEqual([LARGE, 10n, 9n, -5n].map((b) => ({ b: String(b) })));
});

it('a computed bigint is read exactly', async () => {
  expect(await manager.findOneByOrFail(Author, { id: 100n })).toMatchObject({
    bytes: LARGE,
    most: LARGE + 1n,
  });
});

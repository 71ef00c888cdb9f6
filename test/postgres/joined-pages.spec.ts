import { Module } from '@nestjs/common';
import {
  Column,
  DataSource,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  type Relation,
  type SelectQueryBuilder,
} from 'typeorm';
import { beforeAll, describe, expect, it } from 'vitest';
import { Int64Column, Int64Key } from '../../src/database/int64.js';
import { BY_INT64_ID, type Position, keysetPage } from '../../src/database/keyset-page.js';
import type { Order } from '../../src/database/selection.js';
import { addedTable } from '../support/added-table.js';
import { openForAll } from '../support/opened.js';

@Entity('keepers')
class Keeper {
  @Int64Key()
  id!: bigint;

  @Column('varchar')
  name!: string;

  @OneToMany(() => Cage, ({ keeper }) => keeper)
  cages?: Relation<Cage>[];
}

@Entity('foods')
class Food {
  @Int64Key()
  id!: bigint;
}

@Entity('cages')
class Cage {
  @Int64Key()
  id!: bigint;

  @Column('integer')
  size!: number;

  @Int64Column()
  rank!: bigint;

  @ManyToOne(() => Keeper, ({ cages }) => cages)
  keeper?: Relation<Keeper> | null;

  @OneToMany(() => Visitor, ({ cage }) => cage)
  visitors?: Relation<Visitor>[];

  @ManyToMany(() => Food)
  @JoinTable()
  foods?: Relation<Food>[];
}

@Entity('visitors')
class Visitor {
  @Int64Key()
  id!: bigint;

  @ManyToOne(() => Cage, ({ visitors }) => visitors)
  cage?: Relation<Cage>;
}

@Module({ imports: [Keeper, Food, Cage, Visitor].map(addedTable) })
class CagesModule {}

const service = await openForAll({ modules: [CagesModule] });
const { manager } = service.app.get(DataSource);

type Rows = SelectQueryBuilder<Cage>;

/** Reads the pages of a query to their end, two rows of each. */
async function walk(query: () => Rows, order?: Order): Promise<[bigint[], Cage[]]> {
  const cages: Cage[] = [];
  for (let after: Position | undefined, page = 0; page < 10; page += 1) {
    const request = { limit: 2, ...(after ? { after } : {}), ...(order ? { order } : {}) };
    const { items, next } = await keysetPage(query(), request, BY_INT64_ID);
    cages.push(...items);
    after = next;
    if (!after) break;
    expect(items).toHaveLength(2);
  }
  return [cages.map(({ id }) => id), cages];
}

beforeAll(async () => {
  const keepers = await manager.save([1, 2].map((at) => manager.create(Keeper, { name: `Keeper ${at}` })));
  const foods = await manager.save([1, 2, 3].map(() => new Food()));
  for (const size of [5, 4, 3, 2, 1]) {
    const keeper = keepers[size % 2] ?? null;
    const cage = await manager.save(
      manager.create(Cage, { size, rank: 2n ** 60n + BigInt(size), keeper, foods: size === 1 ? [] : foods }),
    );
    await manager.save([1, 2, 3].map(() => manager.create(Visitor, { cage })));
  }
});

const ALL = [1n, 2n, 3n, 4n, 5n];
const cages = () => manager.createQueryBuilder(Cage, 'cage');
const visitors = (query: Rows) => query.leftJoin('cage.visitors', 'visitor');

describe('keysetPage() counts the rows of the list, with any joins', () => {
  it.each<[string, () => Rows]>([
    ['nothing', cages],
    ['a relation to one', () => cages().leftJoinAndSelect('cage.keeper', 'keeper')],
    ['a relation to many', () => visitors(cages())],
    ['a relation to many, and what it is', () => cages().leftJoinAndSelect('cage.visitors', 'visitor')],
    ['an inner join', () => cages().innerJoin('cage.visitors', 'visitor')],
    ['a condition on what is joined', () => visitors(cages()).where('visitor.id > :id', { id: 0n })],
    ['many to many', () => cages().leftJoinAndSelect('cage.foods', 'food')],
    ['two joins', () => visitors(cages()).leftJoinAndSelect('cage.foods', 'food')],
    [
      'a join through another',
      () => cages().innerJoin('cage.keeper', 'keeper').leftJoinAndSelect('keeper.cages', 'other'),
    ],
    ['an entity without a relation', () => cages().leftJoin(Visitor, 'visitor', 'visitor.cage = cage.id')],
    ['a count', () => visitors(cages()).loadRelationCountAndMap('cage.count', 'cage.visitors')],
    ['groups', () => visitors(cages()).groupBy('cage.id').having('COUNT(visitor.id) > 2')],
    ['DISTINCT', () => visitors(cages()).distinct()],
    ['some columns', () => visitors(cages().select('cage.size'))],
    ['a limit and an offset, which it replaces', () => visitors(cages()).limit(1).offset(3)],
    ['take() and skip(), which it replaces', () => visitors(cages()).take(1).skip(3)],
    [
      'options of find()',
      () => cages().setFindOptions({ relations: { visitors: true, foods: true }, take: 1 }),
    ],
    [
      'relations by queries',
      () => cages().setFindOptions({ relations: { visitors: true }, relationLoadStrategy: 'query' }),
    ],
  ])('%s', async (_, query) => {
    expect((await walk(query))[0]).toEqual(ALL);
    expect((await walk(query, { property: 'size', isDescending: false }))[0]).toEqual(ALL.toReversed());
    expect((await walk(query, { property: 'rank', isDescending: true }))[0]).toEqual(ALL);
  });

  it('has all that is joined, for each row', async () => {
    const [, found] = await walk(() =>
      cages().leftJoinAndSelect('cage.visitors', 'visitor').leftJoinAndSelect('cage.foods', 'food'),
    );
    expect(found.map((cage) => [cage.visitors?.length, cage.foods?.length])).toEqual([
      [3, 3],
      [3, 3],
      [3, 3],
      [3, 3],
      [3, 0],
    ]);
  });

  it('refuses a query that is ordered by something else', async () => {
    await expect(keysetPage(cages().orderBy('cage.size'), { limit: 2 }, BY_INT64_ID)).rejects.toThrow(
      'orders the rows by its columns alone',
    );
  });
});

import { Module } from '@nestjs/common';
import {
  And,
  Between,
  Brackets,
  Column,
  CreateDateColumn,
  DataSource,
  DeleteDateColumn,
  Entity,
  Equal,
  type EntityManager,
  ILike,
  In,
  IsNull,
  LessThan,
  LessThanOrEqual,
  Like,
  ManyToOne,
  MoreThan,
  MoreThanOrEqual,
  Not,
  OneToMany,
  Or,
  PrimaryGeneratedColumn,
  Raw,
  type Relation,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeDatabase } from '../kit/test-database.js';
import { addedTable } from '../support/added-table.js';
import { ON_POSTGRES, withParameters } from '../support/databases.js';
import { openForAll } from '../support/opened.js';

/** A column of each kind that both databases have. */
@Entity('things')
class Thing {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column('varchar', { length: 20 })
  name!: string;

  @Column({ default: 3 })
  size!: number;

  @Column('decimal', { precision: 10, scale: 2, nullable: true })
  price!: string | null;

  @Column('double precision', { nullable: true })
  ratio!: number | null;

  @Column({ default: false })
  isOpen!: boolean;

  @Column('date', { nullable: true })
  day!: string | null;

  @Column('time', { nullable: true })
  hour!: string | null;

  @Column('simple-array', { nullable: true })
  tags!: string[] | null;

  @Column('simple-json', { nullable: true })
  notes!: unknown;

  @Column('simple-enum', { enum: ['a', 'b'], default: 'a' })
  kind!: 'a' | 'b';

  @Column('uuid', { nullable: true })
  uid!: string | null;

  @Column({ nullable: true })
  at!: Date;

  @CreateDateColumn({ select: false })
  madeAt!: Date;

  @UpdateDateColumn({ select: false })
  changedAt!: Date;

  @DeleteDateColumn({ select: false })
  goneAt!: Date | null;

  @VersionColumn()
  version!: number;

  @OneToMany(() => Part, ({ thing }) => thing)
  parts?: Relation<Part>[];
}

@Entity('parts')
class Part {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column('integer')
  weight!: number;

  @ManyToOne(() => Thing, ({ parts }) => parts)
  thing?: Relation<Thing> | null;
}

@Module({ imports: [Thing, Part].map(addedTable) })
class ThingsModule {}

const service = await openForAll({ modules: [ThingsModule] });
let plain: DataSource;

beforeAll(async () => {
  const { url, remove } = ON_POSTGRES
    ? await makeDatabase('postgres')
    : { url: ':memory:', remove: async () => undefined };
  const entities = [Thing, Part];
  plain = new DataSource(
    ON_POSTGRES
      ? { type: 'postgres', url, entities, schema: 'plain' }
      : { type: 'sqlite', database: url, entities },
  );
  await plain.initialize();
  if (ON_POSTGRES) await plain.query('CREATE SCHEMA plain');
  await plain.synchronize();
  return async () => {
    await plain.destroy();
    await remove();
  };
});

const uid = '6f1f64f5-6b2a-4d0e-9a3e-0b7c2f4f9a01';
const at = new Date('2026-11-20T12:00:10.250Z');
const FULL = {
  price: '12.50',
  ratio: 0.1,
  isOpen: true,
  day: '2026-11-26',
  hour: '11:30:00',
  tags: ['x', 'y'],
  notes: { a: [1] },
  kind: 'b' as const,
  uid,
  at,
};

beforeEach(async () => {
  for (const { manager } of [service.app.get(DataSource), plain]) {
    await manager.query('DELETE FROM ' + manager.getRepository(Part).metadata.tablePath);
    await manager.query('DELETE FROM ' + manager.getRepository(Thing).metadata.tablePath);
    for (const { tablePath } of [Thing, Part].map((one) => manager.getRepository(one).metadata))
      await manager.query(
        ON_POSTGRES
          ? `SELECT setval('${tablePath}_id_seq', 1, false)`
          : `DELETE FROM sqlite_sequence WHERE name = '${tablePath}'`,
      );
    await manager.insert(Thing, [
      { name: 'one', ...FULL },
      { name: 'two', size: 2, price: '0.30' },
      { name: 'three', size: 30 },
    ]);
    await manager.insert(
      Part,
      [1, 2, 3].map((weight) => ({ weight, thing: { id: weight === 3 ? 2 : 1 } })),
    );
  }
});

const names = async (rows: Promise<readonly { readonly name: string }[]>) =>
  (await rows).map(({ name }) => name);
const where = (condition: object) => (of: EntityManager) =>
  names(of.find(Thing, { where: condition, order: { id: 'ASC' } }));
const built = (of: EntityManager) => of.createQueryBuilder(Thing, 'thing').orderBy('thing.id');
const left = (of: EntityManager) => names(of.find(Thing, { order: { id: 'ASC' } }));

/** A verb, and its result on both databases. */
type Verb = readonly [name: string, run: (of: EntityManager) => Promise<unknown>, expected: unknown];

const NOTHING = {
  size: 3,
  price: null,
  ratio: null,
  isOpen: false,
  day: null,
  hour: null,
  tags: null,
  notes: null,
  kind: 'a',
  uid: null,
  at: null,
  version: 1,
};

const READS: readonly Verb[] = [
  [
    'find',
    (of) => of.find(Thing, { order: { id: 'ASC' }, take: 1 }),
    [{ ...NOTHING, id: 1, name: 'one', ...FULL }],
  ],
  [
    'findOneBy, of nulls and defaults',
    (of) => of.findOneBy(Thing, { id: 3 }),
    { ...NOTHING, id: 3, name: 'three', size: 30 },
  ],
  ['findAndCount', async (of) => (await of.findAndCount(Thing, { skip: 1, take: 1 }))[1], 3],
  [
    'select',
    (of) => of.find(Thing, { select: { name: true, price: true }, where: { id: 1 } }),
    [{ name: 'one', price: '12.50' }],
  ],
  [
    'relations',
    (of) =>
      of.findOne(Part, {
        select: { id: true, thing: { id: true } },
        relations: { thing: true },
        where: { id: 3 },
      }),
    { id: 3, thing: { id: 2 } },
  ],
  ['a condition on a relation', (of) => of.countBy(Part, { thing: { name: 'one' } }), 2],
  ['Equal, Not', where({ name: Not(Equal('one')) }), ['two', 'three']],
  ['LessThan, MoreThan', where({ size: LessThan(3), ratio: IsNull() }), ['two']],
  ['LessThanOrEqual of a decimal', where({ price: LessThanOrEqual('12.5') }), ['one', 'two']],
  ['MoreThan of a decimal, which is not rounded', where({ price: MoreThan('12.499') }), ['one']],
  ['a decimal', where({ price: '12.5' }), ['one']],
  ['Between, In', where({ size: Between(2, 3), name: In(['one', 'two']) }), ['one', 'two']],
  ['Like, ILike', where([{ name: Like('t%') }, { name: ILike('O%') }]), ['one', 'two', 'three']],
  ['And, Or', where({ size: Or(And(MoreThan(2), LessThan(4)), MoreThanOrEqual(30)) }), ['one', 'three']],
  ['Raw', where({ size: Raw((column) => `${column} * 2 > :least`, { least: 5 }) }), ['one', 'three']],
  ['a boolean, a date, an instant, a uuid', where({ isOpen: true, day: '2026-11-26', at, uid }), ['one']],
  [
    'exists, count, countBy',
    async (of) => [
      await of.exists(Thing, { where: { id: 9 } }),
      await of.existsBy(Thing, { id: 1 }),
      await of.count(Thing),
      await of.countBy(Thing, { size: 3 }),
    ],
    [false, true, 3, 1],
  ],
  [
    'sum, average, minimum, maximum',
    async (of) => [
      await of.sum(Thing, 'size'),
      await of.average(Part, 'weight'),
      await of.minimum(Thing, 'size'),
      await of.maximum(Thing, 'price' as never),
    ],
    [35, 2, 2, 12.5],
  ],
  ['an empty sum', (of) => of.sum(Thing, 'size', { id: 9 }), null],
  ['preload', (of) => of.preload(Part, { id: 1, weight: 9 }), { id: 1, weight: 9 }],
  [
    'where, orWhere, Brackets',
    (of) =>
      names(
        built(of)
          .where('thing.size > :size', { size: 2 })
          .andWhere(
            new Brackets((one) => one.where('thing.name = :a', { a: 'one' }).orWhere('thing.price IS NULL')),
          )
          .getMany(),
      ),
    ['one', 'three'],
  ],
  [
    'a list of numbers and texts',
    (of) =>
      names(
        built(of)
          .where('thing.id IN (:...ids) AND thing.name IN (:...names)', {
            ids: [1, 2],
            names: ['two', 'three'],
          })
          .getMany(),
      ),
    ['two'],
  ],
  [
    'joins, groups and having',
    (of) =>
      of
        .createQueryBuilder(Thing, 'thing')
        .select('thing.name', 'name')
        .innerJoin('thing.parts', 'part')
        .groupBy('thing.id')
        .having('SUM(part.weight) > :least', { least: 2 })
        .orderBy('thing.id')
        .getRawMany(),
    [{ name: 'one' }, { name: 'two' }],
  ],
  [
    'joins with skip and take',
    (of) => names(built(of).leftJoinAndSelect('thing.parts', 'part').skip(1).take(1).getMany()),
    ['two'],
  ],
  ['limit, offset and distinct', (of) => names(built(of).distinct().limit(1).offset(2).getMany()), ['three']],
  [
    'a sub-query',
    (of) =>
      names(
        built(of)
          .where(
            (one) =>
              `thing.id IN ${one.subQuery().select('part.thing').from(Part, 'part').where('part.weight = 3').getQuery()}`,
          )
          .getMany(),
      ),
    ['two'],
  ],
  [
    'a common table expression',
    (of) =>
      names(
        built(of)
          .addCommonTableExpression('SELECT 2 AS number', 'numbers')
          .innerJoin('numbers', 'numbers', 'numbers.number = thing.id')
          .getMany(),
      ),
    ['two'],
  ],
  [
    'getManyAndCount, getCount, getExists',
    async (of) => [
      (await built(of).leftJoin('thing.parts', 'part').take(2).getManyAndCount())[1],
      await built(of).innerJoin('thing.parts', 'part').getCount(),
      await built(of).where('thing.id = 9').getExists(),
    ],
    [3, 2, false],
  ],
  [
    'query()',
    (of) =>
      of.query(
        withParameters(
          `SELECT name, size FROM ${of.getRepository(Thing).metadata.tablePath} WHERE size > ? AND name <> ?`,
        ),
        [2, 'one'],
      ),
    [{ name: 'three', size: 30 }],
  ],
  [
    'the same in a transaction',
    (of) => of.transaction((within) => names(within.findBy(Thing, { size: 2 }))),
    ['two'],
  ],
];

const one = (of: EntityManager, id = 1) => of.findOneByOrFail(Thing, { id });
const WRITES: readonly Verb[] = [
  [
    'save a new one',
    async (of) => {
      const { id, size, version, kind } = await of.save(of.create(Thing, { name: 'four', price: '1' }));
      return [id, size, version, kind, (await one(of, 4)).price];
    },
    [4, 3, 1, 'a', '1.00'],
  ],
  [
    'save a change',
    async (of) => {
      await of.save(Object.assign(await one(of), { size: 8, price: '7.125', tags: [] }));
      return one(of);
    },
    { ...NOTHING, id: 1, name: 'one', ...FULL, size: 8, price: '7.13', tags: [], version: 2 },
  ],
  [
    'save with relations',
    async (of) => {
      const part = await of.save(of.create(Part, { weight: 7, thing: await one(of, 3) }));
      return [part.id, await of.countBy(Part, { thing: { id: 3 } })];
    },
    [4, 1],
  ],
  [
    'insert',
    async (of) => {
      const { identifiers } = await of.insert(Part, [{ weight: 4 }, { weight: 5 }]);
      return identifiers;
    },
    [{ id: 4 }, { id: 5 }],
  ],
  [
    'upsert',
    async (of) => {
      await of.upsert(
        Thing,
        [
          { id: 1, name: 'new' },
          { id: 7, name: 'seven' },
        ],
        ['id'],
      );
      return left(of);
    },
    ['new', 'two', 'three', 'seven'],
  ],
  [
    'update',
    async (of) => [
      (await of.update(Thing, { size: LessThan(9) }, { isOpen: true, price: '2.5' })).affected,
      await of.countBy(Thing, { isOpen: true, price: '2.50' }),
    ],
    [2, 2],
  ],
  [
    'delete',
    async (of) => [
      (await of.delete(Part, { thing: { id: 1 } })).affected,
      (await of.delete(Thing, 3)).affected,
      await left(of),
    ],
    [2, 1, ['one', 'two']],
  ],
  [
    'softDelete and restore',
    async (of) => {
      const { affected } = await of.softDelete(Thing, [1, 2]);
      const [visible, all] = [await left(of), await of.count(Thing, { withDeleted: true })];
      const back = await of.restore(Thing, { id: 2 });
      return [affected, visible, all, back.affected, await left(of)];
    },
    [2, ['three'], 3, 1, ['two', 'three']],
  ],
  [
    'softRemove and recover',
    async (of) => {
      const thing = await one(of);
      await of.softRemove(thing);
      const remaining = await left(of);
      await of.recover(thing);
      return [remaining, await left(of)];
    },
    [
      ['two', 'three'],
      ['one', 'two', 'three'],
    ],
  ],
  [
    'remove',
    async (of) => {
      const removed = await of.remove(await one(of, 3));
      return [removed.id, await left(of)];
    },
    [undefined, ['one', 'two']],
  ],
  [
    'increment and decrement',
    async (of) => {
      await of.increment(Thing, { id: 1 }, 'size', 2);
      await of.decrement(Thing, { id: 2 }, 'price', 0.1);
      return [(await one(of)).size, (await one(of, 2)).price];
    },
    [5, '0.20'],
  ],
  [
    'an update by a query builder',
    async (of) => [
      (
        await of
          .createQueryBuilder()
          .update(Thing)
          .set({ size: () => 'size + :more', name: 'x' })
          .setParameter('more', 4)
          .where('size >= :least', { least: 3 })
          .execute()
      ).affected,
      (await one(of)).size,
    ],
    [2, 7],
  ],
  [
    'a deletion by a query builder',
    async (of) => [
      (
        await of
          .createQueryBuilder()
          .delete()
          .from(Part)
          .where('weight IN (:...weights)', { weights: [1, 3] })
          .execute()
      ).affected,
      await of.count(Part),
    ],
    [2, 1],
  ],
  [
    'a soft deletion by a query builder',
    async (of) => {
      await of.createQueryBuilder().softDelete().from(Thing).where('name = :name', { name: 'one' }).execute();
      const remaining = await left(of);
      await of.createQueryBuilder().restore().from(Thing).execute();
      return [remaining, await left(of)];
    },
    [
      ['two', 'three'],
      ['one', 'two', 'three'],
    ],
  ],
  [
    'an insert by a query builder',
    async (of) =>
      (
        await of
          .createQueryBuilder()
          .insert()
          .into(Part)
          .values({ weight: () => '1 + 1' })
          .execute()
      ).identifiers,
    [{ id: 4 }],
  ],
  [
    'a rollback',
    async (of) => {
      await of
        .transaction(async (within) => {
          await within.delete(Part, { weight: MoreThan(0) });
          throw new Error('no');
        })
        .catch(() => undefined);
      return of.count(Part);
    },
    3,
  ],
];

describe.each([
  ['reads', READS],
  ['writes', WRITES],
] as const)('TypeORM %s the same on both databases', (_, verbs) => {
  it.each(verbs)('%s', async (_name, run, expected) => {
    expect(await run(service.app.get(DataSource).manager)).toEqual(expected);
  });
});

/** Where plain TypeORM differs: on SQLite a decimal is a number, and not rounded; on PostgreSQL an id that a row brings is dropped. */
const OTHER = new Set(
  ON_POSTGRES ? ['upsert'] : ['find', 'select', 'save a new one', 'save a change', 'increment and decrement'],
);

it.each([...READS, ...WRITES].filter(([name]) => !OTHER.has(name)))(
  'plain TypeORM agrees: %s',
  async (_, run, expected) => {
    expect(await run(plain.manager)).toEqual(expected);
  },
);

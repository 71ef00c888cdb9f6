import { Module, type Type } from '@nestjs/common';
import {
  Column,
  DataSource,
  DeleteDateColumn,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  type Relation,
} from 'typeorm';
import { beforeEach, describe, expect, it } from 'vitest';
import { Int64Key } from '../../src/database/int64.js';
import { addedTable } from '../support/added-table.js';
import { openForAll } from '../support/opened.js';

/** Shelves and the things on them, with a key of this kind, and a column that is null in every row. */
function shelvesOf(kind: string, key: (prototype: object) => void, idOf: (number: number) => object) {
  @Entity(`${kind}_shelves`)
  class Shelf {
    readonly id!: number;

    @Column('varchar', { nullable: true })
    note!: string | null;

    @OneToMany(() => Thing, ({ shelf }) => shelf)
    things?: Relation<Thing>[];
  }

  @Entity(`${kind}_things`)
  class Thing {
    readonly id!: number;

    @Column('varchar')
    name!: string;

    @Column('varchar', { nullable: true })
    note!: string | null;

    @DeleteDateColumn()
    deletedAt!: Date | null;

    @ManyToOne(() => Shelf, ({ things }) => things)
    shelf?: Relation<Shelf> | null;

    @ManyToMany(() => Shelf)
    @JoinTable({ name: `${kind}_places` })
    places?: Relation<Shelf>[];
  }
  for (const one of [Shelf, Thing]) {
    key(one.prototype);
    // Names of entities are unique.
    Object.defineProperty(one, 'name', { value: `${kind}${one.name}` });
  }
  return [kind, Shelf, Thing, idOf] as const;
}

const column = (property: string, decorator: PropertyDecorator) => (prototype: object) =>
  decorator(prototype, property);
const uuidOf = (number: number) => `6f1f64f5-6b2a-4d0e-9a3e-${String(number).padStart(12, '0')}`;
/** As a team might store a key; its functions take no operator of TypeORM. */
const coded = { to: (id: string) => id.replace('no. ', 'n'), from: (id: string) => id.replace('n', 'no. ') };

const SHELVES = [
  shelvesOf('numbered', column('id', PrimaryGeneratedColumn()), (id) => ({ id })),
  shelvesOf('int64', column('id', Int64Key()), (id) => ({ id: 2n ** 62n + BigInt(id) })),
  shelvesOf('uuid', column('id', PrimaryGeneratedColumn('uuid')), (id) => ({ id: uuidOf(id) })),
  shelvesOf('coded', column('id', PrimaryColumn('varchar', { transformer: coded })), (id) => ({
    id: `no. ${id}`,
  })),
  shelvesOf(
    'composite',
    (prototype) => {
      for (const name of ['id', 'part']) column(name, PrimaryColumn('integer'))(prototype);
    },
    (id) => ({ id, part: id % 2 }),
  ),
] as const;

class Place {
  @PrimaryColumn('integer')
  page!: number;
}

/** A key of a relation and a column of a part. */
@Entity('stickers')
class Sticker {
  @PrimaryColumn('integer')
  thingId!: number;

  @ManyToOne(() => SHELVES[0][2])
  @JoinColumn({ name: 'thingId' })
  thing!: object;

  @Column(() => Place)
  place!: Place;

  @Column('varchar', { nullable: true })
  note!: string | null;
}

/** Its key is that of another row. */
@Entity('tags')
class Tag {
  @PrimaryColumn('integer')
  thingId!: number;

  @OneToOne(() => SHELVES[0][2])
  @JoinColumn({ name: 'thingId' })
  thing!: object;

  @Column('varchar', { nullable: true })
  note!: string | null;
}

@Module({
  imports: [...SHELVES.flatMap<Type>(([, Shelf, Thing]) => [Shelf, Thing]), Sticker, Tag].map(addedTable),
})
class ShelvesModule {}

const service = await openForAll({ modules: [ShelvesModule] });
const dataSource = service.app.get(DataSource);
const { manager } = dataSource;

describe.each(SHELVES)(
  'an entity with a null column represents its id, with a %s key:',
  (kind, Shelf, Thing, idOf) => {
    type Things = InstanceType<typeof Thing>[];
    let [one, two, three] = [] as Things;
    let [shelf, other] = [] as InstanceType<typeof Shelf>[];
    const order = { name: 'ASC' } as const;
    const left = async (where: object = {}) =>
      (await manager.find(Thing, { where, order })).map(({ name }) => name);
    const on = (where: object | undefined) => left({ shelf: where });
    const relation = (property: 'shelf' | 'places') => manager.createQueryBuilder().relation(Thing, property);
    const things = () => manager.createQueryBuilder().relation(Shelf, 'things').of(shelf);

    // TypeORM refers to a key without its transformer, which the foreign key refuses.
    const isUnrelated = kind === 'coded';
    // It compares the first column of a key of several with each column of the other, and refuses null for such a key.
    const hasNoSingleKey = isUnrelated || kind === 'composite';

    beforeEach(async () => {
      await manager.deleteAll(
        manager.getRepository(Thing).metadata.manyToManyRelations[0]?.junctionEntityMetadata?.target ?? '',
      );
      await manager.deleteAll(Thing);
      await manager.deleteAll(Shelf);
      await manager.insert(Shelf, [1, 2].map(idOf));
      await manager.insert(
        Thing,
        ['1', '2', '3'].map((name) => ({ ...idOf(Number(name)), name })),
      );
      [one, two, three] = await manager.find(Thing, { order });
      [shelf, other] = await manager.find(Shelf, { order: { id: 'ASC' } });
    });

    it('rows are selected', async () => {
      const query = () => manager.createQueryBuilder(Thing, 'thing').orderBy('thing.name');
      expect(await query().whereInIds([one, three]).getMany()).toEqual([one, three]);
      expect(await query().whereInIds(two).getMany()).toEqual([two]);
      expect(await query().where("thing.name < '3'").andWhereInIds([two, three]).getMany()).toEqual([two]);
      expect(await query().where("thing.name = '1'").orWhereInIds([three]).getMany()).toEqual([one, three]);
      expect(await query().whereInIds([1, 2].map(idOf)).getMany()).toEqual([one, two]);
      expect(await query().whereInIds([]).getMany()).toEqual([]);
      expect(await query().orWhereInIds([]).andWhereInIds([one]).getMany()).toEqual([]);
    });

    it('rows are written', async () => {
      const update = () => manager.createQueryBuilder().update(Thing).set({ note: 'x' });
      const softDelete = () => manager.createQueryBuilder().softDelete().from(Thing);
      const restore = () => manager.createQueryBuilder().restore().from(Thing);
      const remove = () => manager.createQueryBuilder().delete().from(Thing);
      for (const query of [update, softDelete, restore, remove]) await query().whereInIds([]).execute();
      expect(await manager.find(Thing, { order })).toEqual([one, two, three]);
      await update().whereInIds([one, two]).execute();
      expect(await left({ note: 'x' })).toEqual(['1', '2']);
      await softDelete().where("name = '1'").orWhereInIds(three).execute();
      expect(await left()).toEqual(['2']);
      await restore().whereInIds([three]).execute();
      expect(await left()).toEqual(['2', '3']);
      await remove().whereInIds([three, two]).execute();
      expect(await left()).toEqual([]);
    });

    it.skipIf(isUnrelated)('a relation to many rows is changed and loaded', async () => {
      await things().add(one);
      await things().add([two]);
      expect(await on(shelf)).toEqual(['1', '2']);
      await things().remove(one);
      expect(await on(shelf)).toEqual(['2']);
      await things().addAndRemove([one, three], [two]);
      expect(await on(shelf)).toEqual(['1', '3']);
      expect((await things().loadMany<Things[0]>()).map(({ name }) => name).toSorted()).toEqual(['1', '3']);
    });

    it.skipIf(isUnrelated)('a relation to one row is changed', async () => {
      await relation('shelf').of(one).set(shelf);
      await relation('shelf').of([two, three]).set(other);
      expect([await on(shelf), await on(other)]).toEqual([['1'], ['2', '3']]);
    });

    it.skipIf(hasNoSingleKey)('a relation to one row is loaded and ended', async () => {
      await manager.save(Object.assign(two ?? {}, { shelf: other }));
      expect(await relation('shelf').of(two).loadOne()).toEqual(other);
      await relation('shelf').of(two).set(null);
      expect(await on(other)).toEqual([]);
    });

    it.skipIf(isUnrelated)('a relation between many rows is changed and loaded', async () => {
      const places = relation('places').of(one);
      await places.add([shelf, other]);
      await places.remove(shelf);
      expect(await places.loadMany()).toEqual([other]);
      await places.addAndRemove(shelf, other);
      expect(await places.loadMany()).toEqual([shelf]);
    });

    it('many rows are selected, saved and deleted at once', async () => {
      const many = Array.from({ length: 1100 }, (_, at) =>
        manager.create(Thing, { ...idOf(at + 10), name: 'many' }),
      );
      await manager.insert(Thing, many);
      const found = await manager.createQueryBuilder(Thing, 'thing').whereInIds(many).getCount();
      expect(found).toBe(many.length);
      // It reads all of them, and updates what has changed.
      await manager.save(many.map((thing, at) => Object.assign(thing, { note: at > 1097 ? 'saved' : null })));
      expect(await manager.countBy(Thing, { note: 'saved' })).toBe(2);
      await manager.createQueryBuilder().delete().from(Thing).whereInIds(many).execute();
      expect(await left()).toEqual(['1', '2', '3']);
    });
  },
);

it('keys of relations and of parts of an entity represent it', async () => {
  const [, , Thing] = SHELVES[0];
  await manager.deleteAll(Thing);
  await manager.insert(
    Thing,
    [1, 2].map((id) => ({ id, name: 'stuck' })),
  );
  const keys = [1, 2].flatMap((thingId) => [1, 2].map((page) => ({ thingId, place: { page } })));
  await manager.insert(Sticker, keys);
  await manager.insert(Tag, [{ thingId: 1 }, { thingId: 2 }]);
  const query = () =>
    manager.createQueryBuilder(Sticker, 'one').orderBy({ 'one.thingId': 'ASC', 'one.place.page': 'ASC' });
  const stickers = await query().leftJoinAndSelect('one.thing', 'thing').getMany();
  const of = async (...ids: object[]) =>
    (await query().whereInIds(ids).getMany()).map(({ thingId, place }) => [thingId, place.page]);
  expect(await of(...stickers.slice(1, 3))).toEqual([
    [1, 2],
    [2, 1],
  ]);
  // A part of a key represents all that have it.
  expect(await of({ thingId: 2 })).toEqual([
    [2, 1],
    [2, 2],
  ]);
  expect(await of({ note: 'x' })).toEqual([]);
  await manager.createQueryBuilder().delete().from(Sticker).whereInIds(stickers.slice(0, 3)).execute();
  expect(await manager.count(Sticker)).toBe(1);
  const [, tag] = await manager.find(Tag, { relations: { thing: true }, order: { thingId: 'ASC' } });
  await manager.createQueryBuilder().update(Tag).set({ note: 'x' }).whereInIds([tag]).execute();
  expect(await manager.find(Tag, { where: { note: 'x' } })).toEqual([{ thingId: 2, note: 'x' }]);
});

import { ApiProperty } from '@nestjs/swagger';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  ChildEntity,
  Column,
  CreateDateColumn,
  DataSource,
  Entity,
  In,
  JoinTable,
  ManyToMany,
  ManyToOne,
  PrimaryGeneratedColumn,
  type Relation,
  TableInheritance,
  VersionColumn,
} from 'typeorm';
import { expect, it } from 'vitest';
import { Int64Key } from '../../src/database/int64.js';
import { JsonRows } from '../../src/database/json-rows.js';
import { BY_INT64_ID, keysetPage } from '../../src/database/keyset-page.js';
import { Sweeper } from '../../src/database/sweeper.js';
import { addedTable } from '../support/added-table.js';
import { openForAll } from '../support/opened.js';

@Entity('toys')
@TableInheritance({ column: { type: 'varchar', name: 'kind', length: 20 } })
class Toy {
  @Int64Key()
  id!: bigint;

  @Column({ length: 20 })
  name!: string;

  @Column({ default: 3 })
  size!: number;
}

@ChildEntity()
class Ball extends Toy {}

@ChildEntity()
class Rope extends Toy {}

@ChildEntity()
class LongRope extends Rope {}

class ToyDto {
  @ApiProperty({ type: 'integer' })
  id!: bigint;

  @ApiProperty()
  name!: string;

  @ApiProperty()
  size!: number;
}

/** What the database or TypeORM makes. */
@Entity('kites')
class Kite {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @CreateDateColumn()
  madeAt!: Date;

  @VersionColumn()
  version!: number;

  @Column({ type: 'simple-enum', enum: ['red', 'blue'], default: 'red' })
  color!: string;
}

@Entity('labels')
class Label {
  @PrimaryGeneratedColumn()
  id!: number;
}

/** Refers to a label by a column that the property has as a number. */
@Entity('stickers')
class Sticker {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  labelId!: number;

  @ManyToOne(() => Label)
  label?: Relation<Label>;
}

class StickerDto {
  @ApiProperty({ type: 'integer' })
  id!: number;

  @ApiProperty({ type: 'integer' })
  labelId!: number;
}

/** Its numbers are read as the module says. */
@Entity('codes')
class Code {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column('int8', { transformer: { from: BigInt, to: String } })
  code!: bigint;
}

/** Its columns for other rows are those that TypeORM makes of the relations. */
@Entity('boxes')
class Box {
  @Int64Key()
  id!: bigint;

  @ManyToOne(() => Toy)
  first?: Relation<Toy>;

  @ManyToMany(() => Toy)
  @JoinTable()
  others?: Relation<Toy>[];

  @ManyToMany(() => Label)
  @JoinTable()
  labels?: Relation<Label>[];
}

/** Its names are SQL, and in upper and lower case. */
@Entity('order')
class Order {
  @PrimaryGeneratedColumn()
  orderNumber!: number;

  @Column('integer')
  year!: number;
}

@Module({
  imports: [
    addedTable(Toy),
    addedTable(Order),
    addedTable(Kite),
    addedTable(Label),
    addedTable(Sticker),
    addedTable(Code),
    addedTable(Box),
    TypeOrmModule.forFeature([Ball, Rope, LongRope]),
  ],
})
class ToysModule {}

const service = await openForAll({ modules: [ToysModule] });

it('JsonRows reads only the rows of its entity, and of those that extend it, if several share one table', async () => {
  const { manager } = service.app.get(DataSource);
  for (const one of [Ball, Rope]) await manager.insert(one, { name: one.name });
  const rows = service.app.get(JsonRows);
  const page = async (type: typeof Toy) =>
    JSON.parse((await rows.page(type, ToyDto, { limit: 5 })).items.text) as { name: string }[];
  expect(await page(Toy)).toEqual(['Ball', 'Rope'].map((name, at) => ({ id: at + 1, name, size: 3 })));
  expect((await page(Rope)).map(({ name }) => name)).toEqual(['Rope']);
  await manager.insert(LongRope, { name: 'LongRope' });
  expect((await page(Rope)).map(({ name }) => name)).toEqual(['Rope', 'LongRope']);
  expect(await rows.one(Rope, ToyDto, 1n)).toBeUndefined();
});

it('JsonRows reads a row whose key TypeORM has as a number, and a column that refers to one', async () => {
  const { manager } = service.app.get(DataSource);
  const rows = service.app.get(JsonRows);
  const [label, other] = await manager.save([new Label(), new Label()]);
  const labelId = other?.id ?? 0;
  await manager.insert(Sticker, [{ labelId: label?.id ?? 0 }, { labelId }, { labelId }]);
  const one = await rows.one(Sticker, StickerDto, 1);
  expect(one?.text).toBe(`{"id":1,"labelId":${label?.id}}`);
  expect((await rows.one(Sticker, StickerDto, 2n))?.text).toBe(`{"id":2,"labelId":${labelId}}`);
  const where = [{ property: 'labelId', comparison: '=', value: String(labelId) }] as const;
  const page = await rows.page(Sticker, StickerDto, { limit: 1, where });
  expect(page).toMatchObject({ items: { text: `[{"id":2,"labelId":${labelId}}]` }, next: ['3'] });
  const { items } = await rows.page(Sticker, StickerDto, { limit: 5, where, after: ['3'] });
  expect(items.text).toBe(`[{"id":3,"labelId":${labelId}}]`);
  const order = { property: 'labelId', isDescending: true };
  const ordered = await rows.page(Sticker, StickerDto, { limit: 1, order });
  expect(ordered).toMatchObject({ items: { text: `[{"id":3,"labelId":${labelId}}]` } });
  expect(ordered.next).toEqual([String(labelId), '3']);
  const next = { limit: 1, order, after: [String(labelId), '3'] };
  const built = () => manager.createQueryBuilder(Sticker, 'sticker');
  expect((await keysetPage(built(), next, BY_INT64_ID)).items).toEqual([{ id: 2, labelId }]);
  const broken = { ...next, after: ['none', '3'] };
  await expect(rows.page(Sticker, StickerDto, broken)).rejects.toMatchObject({ code: 'validation_failed' });
  await expect(keysetPage(built(), broken, BY_INT64_ID)).rejects.toMatchObject({ code: 'validation_failed' });
});

it('TypeORM and the database generate what a row lacks: ids, instants, versions and defaults', async () => {
  const kites = service.app.get(DataSource).getRepository(Kite);
  await kites.insert({});
  const made = await kites.save(kites.create({ color: 'blue' }));
  await kites.save(Object.assign(made, { color: 'red' }));
  const shown = { id: expect.stringMatching(/^[\da-f-]{36}$/), madeAt: expect.any(Date), color: 'red' };
  expect(await kites.find({ order: { version: 'ASC' } })).toEqual(
    [1, 2].map((version) => ({ ...shown, version })),
  );
});

it('relations refer to generated ids, also to any int64, by the columns that TypeORM creates for them', async () => {
  const { manager } = service.app.get(DataSource);
  const ids = [2n ** 62n + 1n, 2n ** 53n + 1n];
  await manager.insert(
    Toy,
    ids.map((id) => ({ id, name: `${id}` })),
  );
  const toys = await manager.find(Toy, { where: { id: In(ids) }, order: { id: 'DESC' } });
  const [first, second] = toys;
  const labels = await manager.save([new Label(), new Label()]);
  const { id } = await manager.save(manager.create(Box, { first, others: toys, labels }));
  const relations = { first: true, others: true, labels: true };
  const order = { others: { id: 'DESC' }, labels: { id: 'ASC' } } as const;
  const found = await manager.findOneOrFail(Box, { where: { first: { id: ids[0] } }, relations, order });
  expect(found).toEqual({ id, first, others: toys, labels });
  const fewer = { first: second, others: [second], labels: labels.slice(1) };
  await manager.save(Object.assign(found, fewer));
  expect(await manager.find(Box, { relations })).toEqual([{ id, ...fewer }]);
  await manager.save(Object.assign(found, { first: null }));
  expect(await manager.find(Box, { relations })).toEqual([{ id, ...fewer, first: null }]);
});

it('an int64 is exact by the transformer of a module', async () => {
  const codes = service.app.get(DataSource).getRepository(Code);
  const code = 2n ** 62n + 1n;
  await codes.insert({ code });
  expect(await codes.findOneBy({ code })).toEqual({ id: 1, code });
});

it('rows are not streamed, which is said', async () => {
  const kites = service.app.get(DataSource).getRepository(Kite).createQueryBuilder();
  await expect(kites.stream()).rejects.toThrow(/stream.* not supported/i);
});

it('expired rows are deleted, with any names of the table and its columns', async () => {
  const orders = service.app.get(DataSource).getRepository(Order);
  await orders.insert([{ year: 2025 }, { year: 2026 }]);
  const sweeper = service.app.get(Sweeper);
  sweeper.add({ entity: Order, where: 'year < :oldest', parameters: () => ({ oldest: 2026 }) });
  await sweeper.sweep();
  expect(await orders.find()).toEqual([{ orderNumber: 2, year: 2026 }]);
});

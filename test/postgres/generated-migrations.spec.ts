import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Type } from '@nestjs/common';
import {
  Check,
  Column,
  DataSource,
  Entity,
  ForeignKey,
  Index,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  type Relation,
  Tree,
  TreeChildren,
  TreeParent,
} from 'typeorm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { migrationText, migrationsOf, schemaChanges } from '../../src/cli/generate/schema-changes.js';
import { openDataSource } from '../../src/database/data-source.js';
import { Int64Column, Int64Key } from '../../src/database/int64.js';
import { type Migration, migrate, schemaDifference } from '../../src/database/schema.js';
import { Pet } from '../support/pets/pet.entity.js';
import { TestService } from '../kit/test-service.js';
import { folderOfTest } from '../support/service-process.js';

class Row {
  @Int64Key()
  id!: bigint;
}

@Entity('gizmos')
class Gizmo extends Row {}

@Entity('gizmos')
class ColouredGizmo extends Row {
  @Column('varchar', { length: 20, nullable: true })
  colour!: string | null;

  @Column('integer', { default: 7 })
  size!: number;
}

@Entity('gizmos')
@Index('gizmos_colour_id', ['colour', 'id'])
@Index('gizmos_size', ['size'], { unique: true, where: 'size > 7' })
@Check('gizmos_colour_odd', "colour <> '`${x}\\'")
class CheckedGizmo extends ColouredGizmo {
  @Int64Column({ name: 'pet_id' })
  @ForeignKey(() => Pet, { name: 'gizmos_pet' })
  petId!: bigint;
}

@Entity('gizmos')
class WiderGizmo extends Row {
  @Column('varchar', { length: 40 })
  colour!: string;

  @Column('integer', { default: 8 })
  size!: number;
}

@Entity('gizmos')
@Index('gizmos_colour', ['colour'], { unique: true })
class UniqueGizmo extends ColouredGizmo {}

@Entity('gizmos')
@Check('gizmos_colour_allowed', "colour IN ('red', 'blue')")
class PaintedGizmo extends Row {
  @Column('varchar', { length: 4, default: 'red' })
  colour!: string;

  @Column('integer')
  size!: number;
}

@Entity('gizmos')
@Check('gizmos_colour_known', "colour IN ('red', 'blue', 'turquoise')")
class RepaintedGizmo extends Row {
  @Column('varchar', { length: 9, default: 'blue' })
  colour!: string;

  @Column('varchar', { length: 10 })
  size!: string;
}

@Entity('gizmos')
class RenewedGizmo extends Row {
  @Column('varchar', { length: 4, nullable: true })
  colour!: string | null;

  @Column('double precision', { default: 3 })
  size!: number;
}

/** A new table that refers to an existing one by its key. */
@Entity('gadgets')
class Gadget extends Row {
  @Int64Column({ name: 'gizmo_id' })
  @ForeignKey(() => IndexedGizmo, { name: 'gadgets_gizmo' })
  gizmoId!: bigint;
}

@Entity('gizmos')
@Index('gizmos_colour_id', ['colour', 'id'])
@Index('gizmos_size', ['size'], { unique: true })
class IndexedGizmo extends ColouredGizmo {
  @Column('integer', { name: 'other_size', nullable: true })
  @ForeignKey(() => IndexedGizmo, 'size', { name: 'gizmos_other_size' })
  otherSize!: number | null;
}

class DefaultGizmo extends Row {
  @Column('decimal', { precision: 10, scale: 2, default: 1.5 })
  net!: string;

  @Column('decimal', { precision: 10, scale: 2, default: -1.25 })
  loss!: string;

  @Column('numeric', { default: '2.50' })
  rate!: string;

  @Column('double precision', { default: 0.1 })
  part!: number;

  @Column('double precision', { default: -1e-7 })
  least!: number;
}

@Entity('gizmos')
class FractionGizmo extends DefaultGizmo {
  @Column('real', { default: 1.5 })
  size!: number;
}

@Entity('gizmos')
class OtherFractionGizmo extends DefaultGizmo {
  @Column('real', { default: 2.5 })
  size!: number;
}

@Entity('owners')
class Owner extends Row {}

@Entity('numbered_owners')
class NumberedOwner {
  @PrimaryGeneratedColumn()
  id!: number;
}

/** Its key is that of an owner, and others refer to it. */
@Entity('profiles')
class Profile {
  @Int64Column({ name: 'owner_id', primary: true })
  ownerId!: bigint;

  @OneToOne(() => Owner)
  @JoinColumn({ name: 'owner_id' })
  owner!: Relation<Owner>;
}

@Entity('places')
class Place {
  @PrimaryColumn('varchar', { length: 9 })
  town!: string;

  @Int64Column({ primary: true })
  number!: bigint;
}

@Entity('branches')
@Tree('closure-table')
class Branch extends Row {
  @TreeParent()
  parent?: Relation<Branch> | null;

  @TreeChildren()
  children?: Relation<Branch>[];
}

class Held {
  @Int64Column({ name: 'keeper_id', nullable: true })
  keeperId!: bigint | null;

  @ManyToOne(() => Owner)
  @JoinColumn({ name: 'held_keeper_id' })
  keeper?: Relation<Owner> | null;
}

/** Refers to keys of 64 bits in every way. */
@Entity('holdings')
class Holding extends Row {
  @Int64Column({ name: 'owner_id' })
  ownerId!: bigint;

  @ManyToOne(() => Owner)
  @JoinColumn({ name: 'owner_id' })
  owner?: Relation<Owner>;

  @Int64Column({ name: 'single_id', nullable: true })
  singleId!: bigint | null;

  @OneToOne(() => Owner, { createForeignKeyConstraints: false })
  @JoinColumn({ name: 'single_id' })
  single?: Relation<Owner> | null;

  @ManyToOne(() => Owner)
  implied?: Relation<Owner> | null;

  @Column({ name: 'numbered_id', nullable: true })
  numberedId!: number;

  @ManyToOne(() => NumberedOwner)
  @JoinColumn({ name: 'numbered_id' })
  numbered?: Relation<NumberedOwner>;

  @ManyToOne(() => NumberedOwner)
  impliedNumber?: Relation<NumberedOwner> | null;

  @Column('integer', { name: 'constrained_id', nullable: true })
  @ForeignKey(() => NumberedOwner)
  constrainedId!: number | null;

  @ManyToOne(() => Profile)
  profile?: Relation<Profile> | null;

  @Column('varchar', { length: 9, nullable: true })
  town!: string | null;

  @Int64Column({ name: 'place_number', nullable: true })
  placeNumber!: bigint | null;

  @ManyToOne(() => Place)
  @JoinColumn([
    { name: 'town', referencedColumnName: 'town' },
    { name: 'place_number', referencedColumnName: 'number' },
  ])
  place?: Relation<Place> | null;

  @Column(() => Held)
  held!: Held;

  @ManyToMany(() => Owner)
  @JoinTable({ name: 'holding_owners' })
  owners?: Relation<Owner>[];

  @ManyToMany(() => NumberedOwner)
  @JoinTable({ name: 'holding_numbers' })
  numbers?: Relation<NumberedOwner>[];
}

const HOLDINGS = [Owner, NumberedOwner, Profile, Place, Branch, Holding];

/** Where migrations are generated, as `petstore generate migration` opens it, and where they run: this suite runs on each database. */
let source: DataSource;
let service: TestService;
let target: DataSource;
let own: Type[];
beforeAll(async () => {
  source = await openDataSource({ databaseUrl: 'sqlite::memory:' });
  await migrate(source as Parameters<typeof migrate>[0]);
  service = await TestService.open();
  target = service.app.get(DataSource);
  own = target.options.entities as Type[];
});
afterAll(async () => {
  await source.destroy();
  await service.close();
});

/** Declares entities alongside those of the service. */
async function declare(...states: Type[]): Promise<void> {
  for (const dataSource of [source, target]) {
    dataSource.setOptions({ entities: [...own, ...states] });
    await (dataSource as unknown as { buildMetadatas(): Promise<void> }).buildMetadatas();
  }
}

/** The migration class of a text, loaded as the service loads it. */
async function load(text: string): Promise<Migration> {
  const path = await folderOfTest();
  const file = join(path, 'a.migration.ts');
  await writeFile(file, text);
  const exported = (await import(pathToFileURL(file).href)) as Record<string, new () => Migration>;
  const [Loaded] = Object.values(exported);
  if (!Loaded) throw new Error('The migration exports nothing.');
  return new Loaded();
}

const isPostgres = () => target.options.type === 'postgres';

async function generate(): Promise<Migration[]> {
  const changes = migrationsOf(await schemaChanges(source));
  return Promise.all(changes.map((part) => load(migrationText('Gizmos1795500000000', 'Gizmos.', part))));
}

async function run(
  way: 'up' | 'down',
  migrations: readonly Migration[],
  ...databases: DataSource[]
): Promise<void> {
  for (const dataSource of databases)
    for (const migration of way === 'up' ? migrations : migrations.toReversed())
      await runOne(way, migration, dataSource);
}

async function runOne(way: 'up' | 'down', migration: Migration, dataSource: DataSource): Promise<void> {
  const runner = dataSource.createQueryRunner();
  if (migration.transaction === false) {
    await migration[way](runner);
    await runner.release();
    return;
  }
  await runner.beforeMigration();
  await runner.startTransaction();
  try {
    await migration[way](runner);
    await runner.commitTransaction();
  } catch (error) {
    await runner.rollbackTransaction();
    throw error;
  } finally {
    await runner.afterMigration();
    await runner.release();
  }
}

describe('a generated migration', () => {
  it.each<[what: string, before: Type | undefined, after: Type, onlyExpands: boolean]>([
    ['makes a table', undefined, Gizmo, true],
    ['makes a table with indexes, a check and a foreign key', undefined, CheckedGizmo, true],
    ['adds columns that may be left out', Gizmo, ColouredGizmo, true],
    ['adds a column that may not, indexes, a check and a foreign key', ColouredGizmo, CheckedGizmo, false],
    ['drops columns, indexes, a check and a foreign key', CheckedGizmo, Gizmo, false],
    ['changes columns', ColouredGizmo, WiderGizmo, false],
    ['adds a unique index', ColouredGizmo, UniqueGizmo, false],
    ['makes columns whose defaults are fractions', undefined, FractionGizmo, true],
    ['adds columns whose defaults are fractions', Gizmo, FractionGizmo, true],
    ['changes a default that is a fraction', FractionGizmo, OtherFractionGizmo, false],
  ])('%s, undoes it, and says whether it only expands', async (_, before, after, onlyExpands) => {
    await declare(...(before ? [before] : []));
    const first = await generate();
    await run('up', first, source, target);
    await declare(after);
    const migration = await generate();
    expect(migration.every((one) => one.onlyExpands)).toBe(onlyExpands);
    await run('up', migration, target);
    expect(await schemaDifference(target)).toEqual([]);
    await run('down', migration, target);
    await declare(...(before ? [before] : []));
    expect(await schemaDifference(target)).toEqual([]);
    await run('down', first, source, target);
    await declare();
    expect(await schemaDifference(target)).toEqual([]);
  });

  it('creates indexes of an existing table separately, while it is written to, and those of a new one with it', async () => {
    await declare(CheckedGizmo);
    const [first, ...others] = await generate();
    expect([others, first?.transaction]).toEqual([[], undefined]);
    await declare(ColouredGizmo);
    const before = await generate();
    await run('up', before, source, target);
    await declare(CheckedGizmo);
    const after = await generate();
    expect(after.map(({ transaction }) => transaction)).toEqual([undefined, false]);
    const runner = target.createQueryRunner();
    runner.enableSqlMemory();
    for (const one of after.slice(1)) await one.up(runner);
    const statements = runner.getMemorySql().upQueries.map(({ query }) => query);
    runner.disableSqlMemory();
    await runner.release();
    const how = isPostgres() ? ' CONCURRENTLY' : '';
    expect(statements.toSorted()).toEqual([
      expect.stringContaining(`CREATE INDEX${how} "gizmos_colour_id"`),
      expect.stringContaining(`CREATE UNIQUE INDEX${how} "gizmos_size"`),
    ]);
    await run('down', before, source, target);
    await declare();
  });

  it('creates an index separately although foreign keys refer to its table, unless one needs it', async () => {
    await declare(ColouredGizmo);
    const before = await generate();
    await run('up', before, source, target);
    await declare(IndexedGizmo, Gadget);
    const after = await generate();
    expect(after.map(({ transaction }) => transaction)).toEqual([undefined, false]);
    const [first, apart] = after.map((one) => one.constructor.toString());
    expect(first).toContain('gizmos_size');
    expect(first).not.toContain('gizmos_colour_id');
    expect(apart).toMatch(/"?name"?: ?"gizmos_colour_id".*"?isConcurrent"?: ?true/s);
    await run('up', after, target);
    expect(await schemaDifference(target)).toEqual([]);
    await run('down', after, target);
    await run('down', before, source, target);
    await declare();
    expect(await schemaDifference(target)).toEqual([]);
  });

  it('copies no table for a column that may be left out', async () => {
    await declare(Gizmo);
    const first = await generate();
    await run('up', first, source, target);
    await declare(ColouredGizmo);
    const runner = target.createQueryRunner();
    runner.enableSqlMemory();
    for (const one of await generate()) await one.up(runner);
    const statements = runner.getMemorySql().upQueries.map(({ query }) => query);
    expect(statements).toEqual([
      expect.stringMatching(/^ALTER TABLE "gizmos" ADD (COLUMN )?"colour"/),
      expect.stringMatching(/^ALTER TABLE "gizmos" ADD (COLUMN )?"size"/),
    ]);
    runner.disableSqlMemory();
    await runner.release();
    await run('down', first, source, target);
    await declare();
  });

  describe('of columns of a table with rows', () => {
    let first: Migration[];
    beforeEach(async () => {
      await declare(PaintedGizmo);
      first = await generate();
      await run('up', first, source, target);
      await target.query(`INSERT INTO gizmos (colour, size) VALUES ('blue', 1), ('red', 22)`);
    });
    afterEach(async () => {
      await run('down', first, source, target);
      await declare();
    });

    const rows = () => target.query<unknown[]>('SELECT colour, size FROM gizmos ORDER BY id');
    const OLD = [
      { colour: 'blue', size: 1 },
      { colour: 'red', size: 22 },
    ];

    it.each<[what: string, after: Type, size: (old: number) => unknown, added: string]>([
      ['another length, type and default', RepaintedGizmo, String, `('turquoise', '3')`],
      ['another type and null', RenewedGizmo, Number, `('red', 1.5)`],
    ])('with %s keeps their values, up and down', async (_, after, size, added) => {
      await declare(after);
      const migration = await generate();
      await run('up', migration, target);
      expect(await schemaDifference(target)).toEqual([]);
      expect(await rows()).toEqual(OLD.map((old) => ({ ...old, size: size(old.size) })));
      await target.query(`INSERT INTO gizmos (colour, size) VALUES ${added}`);
      const before = await rows();
      if (isPostgres()) {
        await expect(run('down', migration, target)).rejects.toThrow(
          /^gizmos\.\w+ has values that .* cannot hold/,
        );
        expect(await rows()).toEqual(before);
      }
      await target.query(`DELETE FROM gizmos WHERE id = (SELECT max(id) FROM gizmos)`);
      await run('down', migration, target);
      await declare(PaintedGizmo);
      expect(await schemaDifference(target)).toEqual([]);
      expect(await rows()).toEqual(OLD);
    });
  });

  it('gives every column that refers to a 64-bit key 64 bits', async () => {
    await declare(...HOLDINGS);
    const migration = await generate();
    await run('up', migration, target);
    expect(await schemaDifference(target)).toEqual([]);
    const runner = target.createQueryRunner();
    const tables = await runner.getTables(
      target.entityMetadatas
        .map(({ tableName }) => tableName)
        .filter((name) => /^(?:owners|numb|prof|plac|bran|hold)/.test(name)),
    );
    await runner.release();
    expect(tables).toHaveLength(9);
    for (const { name, columns } of tables)
      for (const column of columns)
        if (column.name !== 'town')
          expect([name, column.name, column.type]).toEqual([
            name,
            column.name,
            isPostgres() || !column.isGenerated ? 'bigint' : 'integer',
          ]);

    const id = 5_000_000_000;
    const big = BigInt(id);
    for (const table of ['owners', 'numbered_owners'])
      await target.query(`INSERT INTO ${table} (id) VALUES (${id})`);
    const place = { town: 'Oslo', number: big };
    await target.getRepository(Place).insert(place);
    await target.getRepository(Profile).insert({ ownerId: big });
    const branches = target.getTreeRepository(Branch);
    const parent = await branches.save({ id: big });
    const child = await branches.save({ id: big + 1n, parent });
    expect(await branches.countDescendants(parent)).toBe(2);
    expect(
      (await branches.findAncestors(child)).map((one) => one.id).toSorted((a, b) => Number(a - b)),
    ).toEqual([big, big + 1n]);
    const holdings = target.getRepository(Holding);
    const [owner, numbered] = [{ id: big }, { id }];
    const values = {
      ownerId: big,
      singleId: big,
      numberedId: id,
      constrainedId: id,
      placeNumber: big,
      town: 'Oslo',
    };
    await holdings.save({
      ...values,
      held: { keeperId: null, keeper: owner },
      implied: owner,
      impliedNumber: numbered,
      profile: { ownerId: big },
      owners: [owner],
      numbers: [numbered],
    });
    const found = await holdings.findOneOrFail({
      where: { owner: { id: big }, numbered: { id }, implied: owner, impliedNumber: numbered },
      relations: {
        owner: true,
        single: true,
        implied: true,
        numbered: true,
        impliedNumber: true,
        profile: true,
        place: true,
        owners: true,
        numbers: true,
        held: { keeper: true },
      },
    });
    expect(found).toEqual({
      id: 1n,
      ...values,
      owner,
      single: owner,
      implied: owner,
      numbered,
      impliedNumber: numbered,
      place,

      profile: { ownerId: big },
      held: { keeperId: null, keeper: owner },
      owners: [owner],
      numbers: [numbered],
    });
    expect(await holdings.save(found)).toEqual(found);
    expect(await holdings.find({ loadRelationIds: true })).toMatchObject([
      { implied: big, impliedNumber: id, profile: big, owners: [big], numbers: [id] },
    ]);
    await target.getRepository(Holding).update({ id: 1n }, { numberedId: () => 'NULL' });
    expect(await holdings.findOneBy({ id: 1n })).toMatchObject({ numberedId: null });

    await run('down', migration, target);
    await declare();
    expect(await schemaDifference(target)).toEqual([]);
  });

  it('of a schema that is as declared changes nothing', async () => {
    await declare();
    expect(await schemaChanges(source)).toEqual([]);
  });
});

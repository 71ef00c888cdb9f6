import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Type } from '@nestjs/common';
import { Check, Column, DataSource, Entity, ForeignKey, Index } from 'typeorm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { migrationText, schemaChanges } from '../../src/cli/generate/schema-changes.js';
import { openDataSource } from '../../src/database/data-source.js';
import { Int64Column, Int64Key } from '../../src/database/int64.js';
import { type Migration, migrate, schemaDifference } from '../../src/database/schema.js';
import { Pet } from '../../src/pets/pet.entity.js';
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

/** Declares a state of the gizmos beside the tables of the service; without one there are none. */
async function declare(state?: Type): Promise<void> {
  for (const dataSource of [source, target]) {
    dataSource.setOptions({ entities: [...own, ...(state ? [state] : [])] });
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

async function generate(): Promise<Migration> {
  return load(migrationText('Gizmos1795500000000', 'Gizmos.', await schemaChanges(source)));
}

async function run(way: 'up' | 'down', migration: Migration, ...databases: DataSource[]): Promise<void> {
  for (const dataSource of databases) {
    const runner = dataSource.createQueryRunner();
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
  ])('%s, undoes it, and says whether it only expands', async (_, before, after, onlyExpands) => {
    await declare(before);
    const first = await generate();
    await run('up', first, source, target);
    await declare(after);
    const migration = await generate();
    expect(migration.onlyExpands).toBe(onlyExpands);
    await run('up', migration, target);
    expect(await schemaDifference(target)).toEqual([]);
    await run('down', migration, target);
    await declare(before);
    expect(await schemaDifference(target)).toEqual([]);
    await run('down', first, source, target);
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
    await (await generate()).up(runner);
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
    let first: Migration;
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

  it('of a schema that is as declared changes nothing', async () => {
    await declare();
    expect(await schemaChanges(source)).toEqual([]);
  });
});

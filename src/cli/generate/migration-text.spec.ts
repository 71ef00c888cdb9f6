import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { Check, Column, DataSource, Entity, Index, PrimaryColumn } from 'typeorm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { emptyFolder } from '../../../test/support/service-process.js';
import type { Migration } from '../../database/schema.js';
import { schemaDifference } from '../../database/schema-difference.js';
import { migrationText } from './migration-text.js';

@Entity('toys')
class Toy {
  @PrimaryColumn('integer')
  id!: number;
}

@Entity('toys')
@Index('toys_name', ['name'])
@Check('toys_name_odd', "name <> '`${x}\\'")
class NamedToy {
  @PrimaryColumn('integer')
  id!: number;

  @Column('varchar', { length: 100, default: 'Ball' })
  name!: string;
}

@Entity('toys')
@Index('toys_code', ['code'], { unique: true })
class CodedToy extends Toy {
  @Column('integer')
  code!: number;
}

/** A database in memory, of the given entities, with the given statements run. */
async function open(entity: new () => object, statements: readonly string[] = []): Promise<DataSource> {
  const dataSource = await new DataSource({
    type: 'sqlite',
    database: ':memory:',
    entities: [entity],
  }).initialize();
  onTestFinished(() => dataSource.destroy());
  for (const statement of statements) await dataSource.query(statement);
  return dataSource;
}

/** The migration class of a text, loaded as the service loads it. */
async function load(text: string): Promise<Migration> {
  const { path, remove } = await emptyFolder();
  onTestFinished(remove);
  const file = join(path, 'a.migration.ts');
  await writeFile(file, text);
  const exported = (await import(pathToFileURL(file).href)) as Record<string, new () => Migration>;
  const [Loaded] = Object.values(exported);
  if (!Loaded) throw new Error('The migration exports nothing.');
  return new Loaded();
}

describe('a generated migration', () => {
  it.each([
    ['makes a table', NamedToy, [], true],
    [
      'adds a column, an index and a check',
      NamedToy,
      ['CREATE TABLE "toys" ("id" integer PRIMARY KEY NOT NULL)'],
      false,
    ],
    [
      'drops a column',
      Toy,
      ['CREATE TABLE "toys" ("id" integer PRIMARY KEY NOT NULL, "name" varchar(100))'],
      false,
    ],
    [
      'adds a unique index',
      CodedToy,
      ['CREATE TABLE "toys" ("id" integer PRIMARY KEY NOT NULL, "code" integer NOT NULL)'],
      false,
    ],
    ['makes a table with one', CodedToy, [], true],
  ])('%s, undoes it, and says whether it only expands', async (_, entity, before, expands) => {
    const dataSource = await open(entity, before);
    const change = await schemaDifference(dataSource);
    const migration = await load(migrationText('Toys1795500000000', 'Toys.', change));
    const runner = dataSource.createQueryRunner();
    expect(migration.onlyExpands).toBe(expands);
    await migration.up(runner);
    expect((await schemaDifference(dataSource)).up).toEqual([]);
    await migration.down(runner);
    expect(await schemaDifference(dataSource)).toEqual(change);
    await runner.release();
  });

  it('of a schema that is as declared has no statement', async () => {
    const dataSource = await open(Toy, ['CREATE TABLE "toys" ("id" integer PRIMARY KEY NOT NULL)']);
    expect(await schemaDifference(dataSource)).toEqual({ up: [], down: [] });
  });
});

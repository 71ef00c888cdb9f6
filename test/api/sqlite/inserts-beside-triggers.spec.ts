import { join } from 'node:path';
import type { Type } from '@nestjs/common';
import { Column, DataSource, Entity, PrimaryColumn, PrimaryGeneratedColumn, type Repository } from 'typeorm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Int64Key } from '../../../src/database/int64.js';
import { Connection } from '../../../src/database/sqlite/connection.js';
import { SqliteDataSource } from '../../../src/database/sqlite/sqlite-data-source.js';
import { emptyFolder } from '../../support/service-process.js';

@Entity('notes')
class Note {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column('text')
  text!: string;
}

@Entity('notes')
class ExactNote {
  @Int64Key()
  id!: bigint;

  @Column('text')
  text!: string;
}

@Entity('codes')
class Code {
  @PrimaryColumn('text')
  code!: string;
}

@Entity('exact')
class Exact {
  @Int64Key()
  id!: bigint;

  @Column('text')
  text!: string;
}

@Entity('made')
class Made {
  @PrimaryGeneratedColumn({ transformer: { to: (id?: number) => id ?? 1_000, from: Number } } as object)
  id!: number;

  @Column('text')
  text!: string;
}

@Entity('other.notes')
class Elsewhere {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column('text')
  text!: string;
}

async function open(entities: Type[], statements: readonly string[]): Promise<DataSource> {
  const dataSource = new SqliteDataSource({ type: 'sqlite', database: ':memory:', entities });
  await dataSource.initialize();
  onTestFinished(() => dataSource.destroy());
  for (const statement of statements) await dataSource.query(statement);
  return dataSource;
}

/** Adds all rows at the same time. */
const added = <T extends object>(repository: Repository<T>, rows: readonly T[]) =>
  Promise.allSettled(rows.map((row) => repository.insert(row as never)));

describe('rows that are inserted together', () => {
  it.each<[string, Type<Note | Exact | Elsewhere>, readonly string[], number, number]>([
    [
      'beside a conflict that is ignored, however that is written',
      Note,
      [
        'CREATE TABLE notes (id integer PRIMARY KEY, text text UNIQUE ON\n  conflict  ignore)',
        `INSERT INTO notes VALUES (1, '0')`,
      ],
      4,
      1,
    ],
    [
      'behind the largest, from where on SQLite takes any',
      Exact,
      [
        'CREATE TABLE exact (id integer PRIMARY KEY, text text)',
        `INSERT INTO exact VALUES (${2n ** 63n - 1n}, 'the largest')`,
      ],
      12,
      0,
    ],
    [
      'in another file, whose triggers are not known',
      Elsewhere,
      [
        `ATTACH ':memory:' AS other`,
        'CREATE TABLE other.notes (id integer PRIMARY KEY, text text)',
        `CREATE TRIGGER other.t AFTER INSERT ON notes WHEN new.text <> 'copy' BEGIN INSERT INTO notes (text) VALUES ('copy'); END`,
      ],
      3,
      0,
    ],
  ])('return their own ids %s', async (_, entity, statements, count, refused) => {
    const repository = (await open([entity], statements)).getRepository(entity);
    const rows = Array.from({ length: count }, (__, at) => repository.create({ text: `${at}` }));
    const outcomes = await added(repository, rows);
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(refused);
    for (const { id, text } of rows.slice(refused))
      expect(
        await repository.query(`SELECT text FROM ${repository.metadata.tablePath} WHERE id = ${id}`),
      ).toEqual([{ text }]);
  });

  it.each<[string, string, number]>([
    [
      'a trigger that changes the new row',
      `CREATE TRIGGER t AFTER INSERT ON Notes BEGIN UPDATE notes SET text = new.text || '!' WHERE id = new.id; END`,
      0,
    ],
    [
      'a trigger that drops a row',
      `CREATE TRIGGER t BEFORE INSERT ON notes WHEN new.text = '0' BEGIN SELECT RAISE(IGNORE); END`,
      1,
    ],
    [
      'a conflict clause',
      `DROP TABLE notes; CREATE TABLE notes (id integer PRIMARY KEY, text text UNIQUE ON CONFLICT IGNORE);
        INSERT INTO notes VALUES (1, '0')`,
      1,
    ],
    ['a row with the largest id', `INSERT INTO notes VALUES (${2n ** 63n - 1n}, 'the largest')`, 0],
    [
      'a key that SQLite does not generate',
      'DROP TABLE notes; CREATE TABLE notes (id bigint PRIMARY KEY, text text)',
      6,
    ],
  ])('return their own ids once another process has added %s', async (_, statements, refused) => {
    const folder = await emptyFolder();
    onTestFinished(() => folder.remove());
    const database = join(folder.path, 'notes.sqlite');
    const dataSource = new SqliteDataSource({
      type: 'sqlite',
      database,
      enableWAL: true,
      entities: [ExactNote],
    });
    await dataSource.initialize();
    onTestFinished(() => dataSource.destroy());
    await dataSource.query('CREATE TABLE notes (id integer PRIMARY KEY, text text)');
    const notes = dataSource.getRepository(ExactNote);
    for (const text of ['a', 'b']) await notes.insert({ text });
    const other = await Connection.open(database, 'write');
    onTestFinished(() => other.close());
    for (const statement of statements.split(/;\s+(?!END)/)) await other.all(statement);
    const rows = Array.from({ length: 6 }, (__, at) => notes.create({ text: `${at}` }));
    const outcomes = await added(notes, rows);
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(refused);
    for (const { id, text } of rows.slice(refused)) {
      const [stored] = await other.texts(`SELECT text FROM notes WHERE id = ${id}`);
      expect(stored?.replace('!', '')).toBe(text);
    }
    expect(await other.texts('SELECT id FROM notes WHERE id IS NULL')).toEqual([]);
  });

  it('reach the table behind a view, if they contain their key', async () => {
    const dataSource = await open(
      [Code],
      [
        'CREATE TABLE behind (code text PRIMARY KEY)',
        'CREATE VIEW codes AS SELECT code FROM behind',
        'CREATE TRIGGER t INSTEAD OF INSERT ON codes BEGIN INSERT INTO behind VALUES (new.code); END',
      ],
    );
    const codes = dataSource.getRepository(Code);
    await added(codes, [{ code: 'x' }, { code: 'y' }]);
    expect(await codes.find({ order: { code: 'ASC' } })).toEqual([{ code: 'x' }, { code: 'y' }]);
  });

  it('are refused for a view, which returns no ids', async () => {
    const dataSource = await open(
      [Note],
      [
        'CREATE TABLE behind (id integer PRIMARY KEY, text text)',
        'CREATE VIEW notes AS SELECT id, text FROM behind',
        'CREATE TRIGGER t INSTEAD OF INSERT ON notes BEGIN INSERT INTO behind (text) VALUES (new.text); END',
      ],
    );
    const notes = dataSource.getRepository(Note);
    for (const texts of [['x'], ['y', 'z']]) {
      const outcomes = await added(
        notes,
        texts.map((text) => notes.create({ text })),
      );
      expect(outcomes.map(({ status }) => status)).toEqual(texts.map(() => 'rejected'));
    }
    expect(await notes.find()).toEqual([]);
  });

  it('have the id that a transformer creates', async () => {
    const dataSource = await open([Made], ['CREATE TABLE made (id integer PRIMARY KEY, text text)']);
    await dataSource.getRepository(Made).insert({ text: 'a' });
    expect(await dataSource.query('SELECT id FROM made')).toEqual([{ id: 1_000 }]);
  });
});

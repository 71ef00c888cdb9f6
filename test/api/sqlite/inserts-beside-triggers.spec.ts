import { Column, DataSource, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Int64Key } from '../../../src/database/int64.js';
import { SqliteDataSource } from '../../../src/database/sqlite/sqlite-data-source.js';

@Entity('notes')
class Note {
  @PrimaryGeneratedColumn()
  id!: number;

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

describe('rows that are inserted together', () => {
  async function open(...statements: string[]): Promise<DataSource> {
    const dataSource = new SqliteDataSource({
      type: 'sqlite',
      database: ':memory:',
      entities: [Note, Code, Exact, Made],
    });
    await dataSource.initialize();
    onTestFinished(() => dataSource.destroy());
    for (const statement of statements) await dataSource.query(statement);
    return dataSource;
  }

  it('are told their own ids beside a conflict that is ignored, however that is written', async () => {
    const dataSource = await open(
      'CREATE TABLE notes (id integer PRIMARY KEY, text text UNIQUE ON\n  conflict  ignore)',
      `INSERT INTO notes VALUES (1, 'old')`,
    );
    const notes = ['a', 'b', 'b', 'c'].map((text) => Object.assign(new Note(), { text }));
    const outcomes = await Promise.allSettled(
      notes.map((note) => dataSource.getRepository(Note).insert(note)),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    for (const { id, text } of notes.filter((_, index) => index !== 2))
      expect(await dataSource.query('SELECT text FROM notes WHERE id = ?', [id])).toEqual([{ text }]);
  });

  it('reach the table behind a view, where they bring their key', async () => {
    const dataSource = await open(
      'CREATE TABLE behind (code text PRIMARY KEY)',
      'CREATE VIEW codes AS SELECT code FROM behind',
      'CREATE TRIGGER t INSTEAD OF INSERT ON codes BEGIN INSERT INTO behind VALUES (new.code); END',
    );
    const codes = dataSource.getRepository(Code);
    await Promise.all(['x', 'y'].map((code) => codes.insert({ code })));
    expect(await codes.find({ order: { code: 'ASC' } })).toEqual([{ code: 'x' }, { code: 'y' }]);
  });

  it('are refused where a view keeps them, which tells no ids', async () => {
    const dataSource = await open(
      'CREATE TABLE behind (id integer PRIMARY KEY, text text)',
      'CREATE VIEW notes AS SELECT id, text FROM behind',
      'CREATE TRIGGER t INSTEAD OF INSERT ON notes BEGIN INSERT INTO behind (text) VALUES (new.text); END',
    );
    const notes = dataSource.getRepository(Note);
    for (const texts of [['x'], ['y', 'z']]) {
      const outcomes = await Promise.allSettled(texts.map((text) => notes.insert({ text })));
      expect(outcomes.map(({ status }) => status)).toEqual(texts.map(() => 'rejected'));
    }
    expect(await notes.find()).toEqual([]);
  });

  it('are told their own ids behind the largest, from where on SQLite takes any', async () => {
    const dataSource = await open(
      'CREATE TABLE exact (id integer PRIMARY KEY, text text)',
      `INSERT INTO exact VALUES (${2n ** 63n - 1n}, 'the largest')`,
    );
    const rows = Array.from({ length: 12 }, (_, index) => Object.assign(new Exact(), { text: `${index}` }));
    await Promise.all(rows.map((row) => dataSource.getRepository(Exact).insert(row)));
    for (const { id, text } of rows)
      expect(await dataSource.query(`SELECT text FROM exact WHERE id = ${id}`)).toEqual([{ text }]);
  });

  it('have the id that a transformer makes', async () => {
    const dataSource = await open('CREATE TABLE made (id integer PRIMARY KEY, text text)');
    await dataSource.getRepository(Made).insert({ text: 'a' });
    expect(await dataSource.query('SELECT id FROM made')).toEqual([{ id: 1_000 }]);
  });
});

it('a table of another file is none whose triggers are known: its rows are inserted each by itself', async () => {
  @Entity('other.notes')
  class Elsewhere {
    @PrimaryGeneratedColumn()
    id!: number;

    @Column('text')
    text!: string;
  }
  const dataSource = new SqliteDataSource({ type: 'sqlite', database: ':memory:', entities: [Elsewhere] });
  await dataSource.initialize();
  onTestFinished(() => dataSource.destroy());
  for (const statement of [
    `ATTACH ':memory:' AS other`,
    'CREATE TABLE other.notes (id integer PRIMARY KEY, text text)',
    `CREATE TRIGGER other.t AFTER INSERT ON notes WHEN new.text <> 'copy' BEGIN INSERT INTO notes (text) VALUES ('copy'); END`,
  ])
    await dataSource.query(statement);
  const rows = ['a', 'b', 'c'].map((text) => Object.assign(new Elsewhere(), { text }));
  await Promise.all(rows.map((row) => dataSource.getRepository(Elsewhere).insert(row)));
  for (const { id, text } of rows)
    expect(await dataSource.query(`SELECT text FROM other.notes WHERE id = ${id}`)).toEqual([{ text }]);
});

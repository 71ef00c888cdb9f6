import { Column, DataSource, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Int64Key } from '../../src/database/int64.js';
import { SqliteDataSource } from '../../src/database/sqlite/sqlite-data-source.js';
import { TestService } from '../kit/test-service.js';
import { itOnSqlite } from '../support/databases.js';

type Kind = 'sqlite' | 'postgres';

/** What an operator may have a table do besides inserting, in each dialect; each acts on names that begin with `odd`. */
const TRIGGERS: Readonly<Record<string, Readonly<Record<Kind, readonly string[]>>>> = {
  'adds another row': {
    sqlite: [
      `CREATE TRIGGER odd AFTER INSERT ON pets WHEN new.name LIKE 'odd%'
        BEGIN INSERT INTO pets (name, category_id, status) VALUES ('a copy', 1, 'sold'); END`,
    ],
    postgres: [
      `CREATE FUNCTION odd() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF new.name LIKE 'odd%' THEN INSERT INTO pets (name, category_id, status) VALUES ('a copy', 1, 'sold'); END IF;
        RETURN new; END $$`,
      `CREATE TRIGGER odd AFTER INSERT ON pets FOR EACH ROW EXECUTE FUNCTION odd()`,
    ],
  },
  'keeps the row out': {
    sqlite: [
      `CREATE TRIGGER odd BEFORE INSERT ON pets WHEN new.name LIKE 'odd%' BEGIN SELECT RAISE(IGNORE); END`,
    ],
    postgres: [
      `CREATE FUNCTION odd() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF new.name LIKE 'odd%' THEN RETURN NULL; END IF; RETURN new; END $$`,
      `CREATE TRIGGER odd BEFORE INSERT ON pets FOR EACH ROW EXECUTE FUNCTION odd()`,
    ],
  },
  'refuses the row': {
    sqlite: [
      `CREATE TRIGGER odd BEFORE INSERT ON pets WHEN new.name LIKE 'odd%' BEGIN SELECT RAISE(ABORT, 'no'); END`,
    ],
    postgres: [
      `CREATE FUNCTION odd() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF new.name LIKE 'odd%' THEN RAISE 'no'; END IF; RETURN new; END $$`,
      `CREATE TRIGGER odd BEFORE INSERT ON pets FOR EACH ROW EXECUTE FUNCTION odd()`,
    ],
  },
};

it.each([
  ['adds another row', 201],
  ['keeps the row out', 500],
  ['refuses the row', 500],
])(
  'animals that are added together are told their own ids beside a trigger that %s',
  async (what, status) => {
    const service = await TestService.open();
    onTestFinished(() => service.close());
    const dataSource = service.app.get(DataSource);
    const kind = dataSource.options.type === 'postgres' ? 'postgres' : 'sqlite';
    for (const statement of TRIGGERS[what]?.[kind] ?? []) await dataSource.query(statement);
    const names = Array.from({ length: 24 }, (_, index) => `${index % 3 === 0 ? 'odd' : 'even'} ${index}`);
    const answers = await Promise.all(
      names.map(async (name) => {
        const answer = await service.request('POST', '/v1/pets', { json: { name, categoryId: 1 } });
        return { name, status: answer.status, location: answer.headers.get('location') };
      }),
    );
    expect(answers.map((answer) => answer.status)).toEqual(
      names.map((name) => (name.startsWith('odd') ? status : 201)),
    );
    for (const { name, location } of answers.filter((answer) => answer.status === 201)) {
      const { body } = await service.request('GET', String(location));
      expect([location, body.name]).toEqual([location, name]);
    }
  },
);

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

describe('on SQLite, rows that are inserted together', () => {
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

  itOnSqlite(
    'are told their own ids beside a conflict that is ignored, however that is written',
    async () => {
      const dataSource = await open(
        'CREATE TABLE notes (id integer PRIMARY KEY, text text UNIQUE ON\n  conflict  ignore)',
        `INSERT INTO notes VALUES (1, 'old')`,
      );
      const notes = ['a', 'b', 'b', 'c'].map((text) => Object.assign(new Note(), { text }));
      const outcomes = await Promise.allSettled(
        notes.map((note) => dataSource.getRepository(Note).insert(note)),
      );
      expect(outcomes.map(({ status }) => status)).toEqual([
        'fulfilled',
        'fulfilled',
        'rejected',
        'fulfilled',
      ]);
      for (const { id, text } of notes.filter((_, index) => index !== 2))
        expect(await dataSource.query('SELECT text FROM notes WHERE id = ?', [id])).toEqual([{ text }]);
    },
  );

  itOnSqlite('reach the table behind a view, where they bring their key', async () => {
    const dataSource = await open(
      'CREATE TABLE behind (code text PRIMARY KEY)',
      'CREATE VIEW codes AS SELECT code FROM behind',
      'CREATE TRIGGER t INSTEAD OF INSERT ON codes BEGIN INSERT INTO behind VALUES (new.code); END',
    );
    const codes = dataSource.getRepository(Code);
    await Promise.all(['x', 'y'].map((code) => codes.insert({ code })));
    expect(await codes.find({ order: { code: 'ASC' } })).toEqual([{ code: 'x' }, { code: 'y' }]);
  });

  itOnSqlite('are refused where a view keeps them, which tells no ids', async () => {
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

  itOnSqlite('are told their own ids behind the largest, from where on SQLite takes any', async () => {
    const dataSource = await open(
      'CREATE TABLE exact (id integer PRIMARY KEY, text text)',
      `INSERT INTO exact VALUES (${2n ** 63n - 1n}, 'the largest')`,
    );
    const rows = Array.from({ length: 12 }, (_, index) => Object.assign(new Exact(), { text: `${index}` }));
    await Promise.all(rows.map((row) => dataSource.getRepository(Exact).insert(row)));
    for (const { id, text } of rows)
      expect(await dataSource.query(`SELECT text FROM exact WHERE id = ${id}`)).toEqual([{ text }]);
  });

  itOnSqlite('have the id that a transformer makes', async () => {
    const dataSource = await open('CREATE TABLE made (id integer PRIMARY KEY, text text)');
    await dataSource.getRepository(Made).insert({ text: 'a' });
    expect(await dataSource.query('SELECT id FROM made')).toEqual([{ id: 1_000 }]);
  });
});

itOnSqlite(
  'a table of another file is none whose triggers are known: its rows are inserted each by itself',
  async () => {
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
  },
);

import fc from 'fast-check';
import {
  Column,
  DataSource,
  type DeepPartial,
  Entity,
  type InsertResult,
  type ObjectLiteral,
  PrimaryGeneratedColumn,
  type Repository,
} from 'typeorm';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Int64Column, Int64Key } from '../../src/database/int64.js';
import { BatchedInserts } from '../../src/database/batched-insert.js';
import { SqliteDataSource } from '../../src/database/sqlite/sqlite-data-source.js';
import { Pet } from '../support/pets/pet.entity.js';
import { TestService } from '../kit/test-service.js';
import { addedTable } from '../support/added-table.js';
import { ON_POSTGRES, itOnSqlite } from '../support/databases.js';

class Size {
  @Column('real', { nullable: true })
  width?: number | null;
}

/** A column of each kind that an entity of an added module may have. */
@Entity('held_values')
class Held {
  @Int64Key()
  id!: bigint;

  @Column('varchar', { name: 'the_text', length: 40, nullable: true })
  text?: string | null;

  @Column('integer', { nullable: true })
  count?: number | null;

  @Int64Column({ nullable: true })
  exact?: bigint | null;

  /** Keeps a number as text, of which it shows how it was written. */
  @Column('text', { nullable: true })
  written?: string | number | null;

  @Column('boolean', { nullable: true })
  isOpen?: boolean | null;

  @Column('blob', { nullable: true })
  bytes?: Buffer | null;

  @Column('simple-json', { nullable: true })
  notes?: unknown;

  @Column('datetime', { nullable: true })
  at?: Date | null;

  @Column(() => Size)
  size!: Size;
}

/** One that the database numbers, without a transformer. */
@Entity('counted_values')
class Counted {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column('text')
  text!: string;
}

/** Columns of types that both databases have. A type of PostgreSQL is called as its table. */
@Entity('line')
class Both {
  @Int64Key()
  id!: bigint;

  @Column('numeric', { nullable: true })
  price?: string | number;

  @Column('double precision', { nullable: true })
  ratio?: number;

  @Column('boolean', { name: 'is_open', nullable: true })
  isOpen?: boolean;

  @Column('date', { nullable: true })
  day?: string;

  @Column('time', { nullable: true })
  hour?: string;
}

@Entity('documented')
class Documented {
  @Int64Key()
  id!: bigint;

  @Column('json', { nullable: true })
  document?: unknown;
}

const or = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null | undefined> =>
  fc.oneof({ weight: 12, arbitrary: value }, { weight: 1, arbitrary: fc.constantFrom(null, undefined) });

const held: fc.Arbitrary<DeepPartial<Held>> = fc.record({
  text: or(fc.string({ unit: 'grapheme', maxLength: 8 }).filter((text) => !text.includes('\0'))),
  count: or(
    fc.oneof(fc.integer(), fc.integer(), fc.maxSafeInteger(), fc.constantFrom(-0, 2 ** 31, -(2 ** 31))),
  ),
  exact: or(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n)),
  written: or(
    fc.oneof(
      fc.string({ unit: 'grapheme-ascii' }),
      fc.integer(),
      fc.integer(),
      fc.constantFrom(2 ** 31, 2.5),
    ),
  ),
  isOpen: or(fc.boolean()),
  bytes: or(fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes))),
  notes: or(fc.constantFrom({ a: [1] }, [], 'text', 7)),
  at: or(fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true })),
  size: fc.record({
    width: or(fc.oneof(fc.nat(), fc.nat(), fc.double({ noNaN: true, noDefaultInfinity: true }))),
  }),
});

/** What an INSERT returns, with the id of its row in place of a number that differs from row to row. */
function returned({ identifiers, generatedMaps, raw }: InsertResult, id: unknown): unknown {
  const named = (value: unknown): unknown =>
    typeof value === 'bigint' || typeof value === 'number' || typeof value === 'string'
      ? [typeof value, String(value) === String(id) ? 'the id' : value]
      : Array.isArray(value)
        ? value.map(named)
        : Object.fromEntries(Object.entries(value as object).map(([name, member]) => [name, named(member)]));
  return [identifiers, generatedMaps, raw].map(named);
}

/** Inserts copies of rows, at the same time and each by TypeORM's query builder; returns the results and the stored rows of both. */
async function bothWays<Row extends ObjectLiteral & { id: unknown }>(
  repository: Repository<Row>,
  rows: readonly DeepPartial<Row>[],
): Promise<[unknown[], unknown[]]> {
  const made = () => rows.map((row) => repository.create(row));
  const [grouped, built] = [made(), made()];
  const together = await Promise.all(grouped.map((row) => repository.insert(row as never)));
  const alone: InsertResult[] = [];
  for (const row of built) alone.push(await repository.createQueryBuilder().insert().values(row).execute());
  const stored = async (row: Row) => {
    const { tablePath, columns } = repository.metadata;
    const names = columns.map(({ databaseName }) => databaseName).filter((name) => name !== 'id');
    const types =
      repository.metadata.connection.options.type === 'postgres'
        ? []
        : names.map((name) => `typeof("${name}")`);
    const shown = [...names.map((name) => `"${name}"`), ...types].join(', ');
    const [found] = await repository.query(`SELECT ${shown} FROM ${tablePath} WHERE id = ${String(row.id)}`);
    return found as unknown;
  };
  const outcome = (results: readonly InsertResult[], entities: readonly Row[]) =>
    Promise.all(
      entities.map(async (row, index) => [
        returned(results[index] as InsertResult, row.id),
        { ...row, id: typeof row.id },
        await stored(row),
      ]),
    );
  return [await outcome(together, grouped), await outcome(alone, built)];
}

/** A service without tables of its own. */
let plain: TestService;
beforeAll(async () => {
  plain = await TestService.open();
  return () => plain.close();
});

describe('rows of plain values', () => {
  let own: DataSource;
  beforeAll(async () => {
    own = new SqliteDataSource({
      type: 'sqlite',
      database: ':memory:',
      entities: [Held, Counted],
      synchronize: true,
    });
    await own.initialize();
    return () => own.destroy();
  });

  itOnSqlite('are stored and told as by TypeORM, whatever the values', async () => {
    const plainly = vi.spyOn(BatchedInserts.prototype, 'prepare');
    onTestFinished(() => plainly.mockRestore());
    await fc.assert(
      fc.asyncProperty(fc.array(held, { minLength: 1, maxLength: 6 }), async (rows) => {
        const [together, alone] = await bothWays(own.getRepository(Held), rows);
        expect(together).toEqual(alone);
      }),
      { numRuns: 100 },
    );
    // Values that TypeORM must write, such as bytes, are left to it.
    expect(new Set(plainly.mock.results.map(({ value }) => value !== undefined))).toEqual(
      new Set([true, false]),
    );
  });

  itOnSqlite('have numbers for ids where the entity has', async () => {
    const [together, alone] = await bothWays(own.getRepository(Counted), [{ text: 'a' }, { text: 'b' }]);
    expect(together).toEqual(alone);
  });

  it('are animals, on each database', async () => {
    const plainly = vi.spyOn(BatchedInserts.prototype, 'prepare');
    onTestFinished(() => plainly.mockRestore());
    const animals = ['Rex', "O'Hara :name ?", 'Ünal 🐕'].map((name, index) => ({
      name,
      categoryId: 2n ** 63n - 1n - BigInt(index),
      status: 'sold' as const,
    }));
    const [together, alone] = await bothWays(plain.repository(Pet), animals);
    expect(together).toEqual(alone);
    expect(plainly.mock.results[0]?.value).toBeDefined();
  });
});

/** What an operator may have a table do besides inserting, by a trigger; each acts on names that start with `odd`. */
const TRIGGERS = {
  'adds another row': {
    sqlite: `AFTER INSERT ON pets WHEN new.name LIKE 'odd%'
      BEGIN INSERT INTO pets (name, category_id, status) VALUES ('a copy', 1, 'sold'); END`,
    postgres: `INSERT INTO pets (name, category_id, status) VALUES ('a copy', 1, 'sold');`,
    status: 201,
  },
  'keeps the row out': {
    sqlite: `BEFORE INSERT ON pets WHEN new.name LIKE 'odd%' BEGIN SELECT RAISE(IGNORE); END`,
    postgres: 'RETURN NULL;',
    status: 500,
  },
  'refuses the row': {
    sqlite: `BEFORE INSERT ON pets WHEN new.name LIKE 'odd%' BEGIN SELECT RAISE(ABORT, 'no'); END`,
    postgres: `RAISE 'no';`,
    status: 500,
  },
  'has the row refused by the COMMIT': {
    sqlite: `AFTER INSERT ON pets WHEN new.name LIKE 'odd%' BEGIN INSERT INTO refused VALUES (-1); END`,
    postgres: `INSERT INTO refused VALUES (-1);`,
    status: 409,
  },
};

it.each(Object.entries(TRIGGERS))(
  'animals that are added together return their own ids with a trigger that %s',
  async (what, { sqlite, postgres, status }) => {
    const statements = ON_POSTGRES
      ? [
          `CREATE OR REPLACE FUNCTION odd() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN IF new.name LIKE 'odd%' THEN ${postgres} END IF; RETURN new; END $$`,
          `CREATE TRIGGER odd ${what === 'keeps the row out' ? 'BEFORE' : 'AFTER'} INSERT ON pets
            FOR EACH ROW EXECUTE FUNCTION odd()`,
        ]
      : [`CREATE TRIGGER odd ${sqlite}`];
    const database = plain.app.get(DataSource);
    await database.query(
      `CREATE TABLE IF NOT EXISTS refused (pet_id bigint REFERENCES pets (id) DEFERRABLE INITIALLY DEFERRED)`,
    );
    for (const statement of statements) await database.query(statement);
    onTestFinished(() => database.query(`DROP TRIGGER odd${ON_POSTGRES ? ' ON pets' : ''}`));
    const names = Array.from({ length: 24 }, (_, index) => `${index % 3 === 0 ? 'odd' : 'even'} ${index}`);
    const responses = await Promise.all(
      names.map((name) => plain.request('POST', '/v1/pets', { json: { name, categoryId: 1 } })),
    );
    expect(responses.map((response) => response.status)).toEqual(
      names.map((name) => (name.startsWith('odd') ? status : 201)),
    );
    for (const [at, { headers, status: code }] of responses.entries()) {
      if (code !== 201) continue;
      const { body } = await plain.request('GET', headers.get('location') ?? '');
      expect(body.name).toBe(names[at]);
    }
  },
);

it('a trigger that stores the row elsewhere leaves nothing there, because the request fails', async () => {
  const database = plain.app.get(DataSource);
  const elsewhere = `INSERT INTO elsewhere (name) VALUES (new.name);`;
  await database.query('CREATE TABLE elsewhere (name text)');
  for (const statement of ON_POSTGRES
    ? [
        `CREATE OR REPLACE FUNCTION divert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${elsewhere} RETURN NULL; END $$`,
        'CREATE TRIGGER divert BEFORE INSERT ON pets FOR EACH ROW EXECUTE FUNCTION divert()',
      ]
    : [`CREATE TRIGGER divert BEFORE INSERT ON pets BEGIN ${elsewhere} SELECT RAISE(IGNORE); END`])
    await database.query(statement);
  onTestFinished(() => database.query(`DROP TRIGGER divert${ON_POSTGRES ? ' ON pets' : ''}`));
  const responses = await Promise.all(
    ['Rex', 'Ida'].map((name) => plain.request('POST', '/v1/pets', { json: { name, categoryId: 1 } })),
  );
  expect(responses.map(({ status }) => status)).toEqual([500, 500]);
  expect(await database.query('SELECT * FROM elsewhere')).toEqual([]);
});

it.runIf(ON_POSTGRES)('animals are added to a table with a rule, which is followed', async () => {
  const database = plain.app.get(DataSource);
  await database.query('CREATE TABLE names_added (name text)');
  await database.query(
    'CREATE RULE note AS ON INSERT TO pets DO ALSO INSERT INTO names_added VALUES (new.name)',
  );
  onTestFinished(() => database.query('DROP RULE note ON pets'));
  const names = ['Rex', 'Ida', 'Bo'];
  const responses = await Promise.all(
    names.map((name) => plain.request('POST', '/v1/pets', { json: { name, categoryId: 1 } })),
  );
  expect(responses.map(({ status, body }) => [status, body.name])).toEqual(names.map((name) => [201, name]));
  expect(await database.query('SELECT name FROM names_added ORDER BY name')).toEqual(
    names.toSorted().map((name) => ({ name })),
  );
});

describe('rows with columns of types that both databases have', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.open({
      modules: [addedTable(Both), addedTable(Documented)],
    });
    return () => service.close();
  });

  it.each<[string, object]>([
    ['an object', { document: { a: [1, 'b'] } }],
    ['a text of JSON', { document: 'text' }],
    ['a number of JSON', { document: 7 }],
    ['no document', { document: null }],
    ['a price as text', { price: '12.35' }],
    ['a price', { price: 12 }],
    ['a ratio', { ratio: 0.1 }],
    ['a whole ratio', { ratio: 3 }],
    ['a boolean', { isOpen: true }],
    ['an SQL expression', { isOpen: () => '1 = 1' }],
    ['a day and an hour', { day: '2026-11-26', hour: '11:30:00' }],
  ])('are stored and returned as by TypeORM: %s', async (_, row) => {
    const of = 'document' in row ? Documented : Both;
    const [together, alone] = await bothWays(service.app.get(DataSource).getRepository<Both>(of), [row, row]);
    expect(together).toEqual(alone);
  });
});

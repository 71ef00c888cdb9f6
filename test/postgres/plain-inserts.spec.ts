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
import { PlainInsert } from '../../src/database/plain-insert.js';
import { SqliteDataSource } from '../../src/database/sqlite/sqlite-data-source.js';
import { Pet } from '../../src/pets/pet.entity.js';
import { TestService } from '../kit/test-service.js';
import { itOnSqlite } from '../support/databases.js';

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

/** What an INSERT tells, with the id of its row in place of a number that differs from row to row. */
function told({ identifiers, generatedMaps, raw }: InsertResult, id: unknown): unknown {
  const named = (value: unknown): unknown =>
    typeof value === 'bigint' || typeof value === 'number' || typeof value === 'string'
      ? [typeof value, String(value) === String(id) ? 'the id' : value]
      : Array.isArray(value)
        ? value.map(named)
        : Object.fromEntries(Object.entries(value as object).map(([name, member]) => [name, named(member)]));
  return [identifiers, generatedMaps, raw].map(named);
}

/** Inserts copies of rows, at the same time and each by TypeORM's query builder; answers what was told and is stored of either. */
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
        told(results[index] as InsertResult, row.id),
        { ...row, id: typeof row.id },
        await stored(row),
      ]),
    );
  return [await outcome(together, grouped), await outcome(alone, built)];
}

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
    const plainly = vi.spyOn(PlainInsert.prototype, 'insert');
    onTestFinished(() => plainly.mockRestore());
    await fc.assert(
      fc.asyncProperty(fc.array(held, { minLength: 1, maxLength: 6 }), async (rows) => {
        const [together, alone] = await bothWays(own.getRepository(Held), rows);
        expect(together).toEqual(alone);
      }),
      { numRuns: 300 },
    );
    const outcomes = await Promise.all(plainly.mock.results.map(({ value }) => value as Promise<unknown>));
    // Values that TypeORM must write, such as one that is left out, are left to it.
    expect(new Set(outcomes.map((outcome) => outcome !== undefined))).toEqual(new Set([true, false]));
  });

  itOnSqlite('have numbers for ids where the entity has', async () => {
    const [together, alone] = await bothWays(own.getRepository(Counted), [{ text: 'a' }, { text: 'b' }]);
    expect(together).toEqual(alone);
  });

  it('are animals, on each database', async () => {
    const service = await TestService.open();
    onTestFinished(() => service.close());
    const plainly = vi.spyOn(PlainInsert.prototype, 'insert');
    onTestFinished(() => plainly.mockRestore());
    const animals = ['Rex', "O'Hara :name ?", 'Ünal 🐕'].map((name, index) => ({
      name,
      categoryId: 2n ** 63n - 1n - BigInt(index),
      status: 'sold' as const,
    }));
    const [together, alone] = await bothWays(service.app.get(DataSource).getRepository(Pet), animals);
    expect(together).toEqual(alone);
    expect(await plainly.mock.results[0]?.value).toBeDefined();
  });
});

import { join } from 'node:path';
import fc from 'fast-check';
import {
  BeforeInsert,
  Column,
  Entity,
  type ObjectLiteral,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  type Repository,
} from 'typeorm';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openDataSource } from '../../src/database/data-source.js';
import { migrate } from '../../src/database/schema.js';
import { SqliteDataSource } from '../../src/database/sqlite/sqlite-data-source.js';
import { Pet } from '../../src/pets/pet.entity.js';
import { emptyFolder } from '../support/service-process.js';

async function open() {
  const { path, remove } = await emptyFolder();
  const dataSource = await openDataSource({ databaseUrl: `sqlite:${join(path, 'a.sqlite')}` });
  onTestFinished(async () => {
    await dataSource.destroy();
    await remove();
  });
  await migrate(dataSource);
  return { dataSource, repository: dataSource.getRepository(Pet) };
}

/** A row that the table takes, one that its CHECK refuses, or one that brings its id. */
const row = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ status: 'sold' as const }) },
  { weight: 1, arbitrary: fc.constant({ status: 'lost' as never }) },
  { weight: 1, arbitrary: fc.bigInt(1n, 2n ** 62n).map((id) => ({ status: 'sold' as const, id })) },
);

function pet(name: string, fields: Partial<Pet>): Pet {
  return Object.assign(new Pet(), { name, categoryId: 1n, ...fields });
}

describe('rows inserted at the same time', () => {
  it('get their own ids, and each succeeds or fails by itself, in whatever company', async () => {
    const { repository } = await open();
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 40 }), async (rows) => {
        await repository.clear();
        const pets = rows.map((fields, index) => pet(`Animal ${index}`, fields));
        const outcomes = await Promise.allSettled(pets.map((one) => repository.insert(one)));
        const chosen = rows.flatMap((one) => ('id' in one ? [one.id] : []));
        fc.pre(new Set(chosen).size === chosen.length);
        expect(outcomes.map(({ status }) => status)).toEqual(
          rows.map((one) => (one.status === 'sold' ? 'fulfilled' : 'rejected')),
        );
        const kept = pets.filter((_, index) => outcomes[index]?.status === 'fulfilled');
        const byId = new Map((await repository.find()).map((found) => [String(found.id), found.name]));
        expect(byId.size).toBe(kept.length);
        for (const { id, name } of kept) expect([id, byId.get(String(id))]).toEqual([id, name]);
      }),
      { numRuns: 25 },
    );
  });

  it('are committed together: a thousand of them in a handful of transactions', async () => {
    const { dataSource, repository } = await open();
    const { dataVersion } = dataSource as SqliteDataSource;
    // The state is told from the first commit on.
    await repository.insert(pet('First', { status: 'sold' }));
    const before = dataVersion.current('responses') ?? Number.NaN;
    const pets = Array.from({ length: 1_000 }, (_, index) => pet(`Animal ${index}`, { status: 'sold' }));
    // A commit is seen when it is looked for, so the state is asked after each row.
    const states = await Promise.all(
      pets.map(async (one) => {
        await repository.insert(one);
        return dataVersion.current('responses');
      }),
    );
    expect((states.at(-1) ?? Number.NaN) - before).toBeLessThanOrEqual(4);
    expect(await repository.count()).toBe(1_001);
  });
});

@Entity()
class Heard {
  @PrimaryColumn('text')
  name!: string;

  @BeforeInsert()
  shout(): void {
    this.name = this.name.toUpperCase();
  }
}

@Entity()
class Numbered {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column('integer')
  place!: number;
}

async function openOwn() {
  const dataSource = new SqliteDataSource({
    type: 'sqlite',
    database: ':memory:',
    entities: [Heard, Numbered],
    synchronize: true,
  });
  await dataSource.initialize();
  onTestFinished(() => dataSource.destroy());
  return dataSource;
}

/** Inserts rows at the same time; answers the statements that did, without their values. */
async function insertAll<T extends ObjectLiteral>(repository: Repository<T>, rows: T[]) {
  const logged = vi.spyOn(repository.manager.connection.logger, 'logQuery');
  const results = await Promise.all(rows.map((one) => repository.insert(one)));
  const statements = logged.mock.calls.map(([sql]) => sql).filter((sql) => sql.includes('INSERT INTO'));
  logged.mockRestore();
  return { results, statements };
}

describe('a row of an entity', () => {
  it('with a listener is inserted by itself, and the listener runs', async () => {
    const dataSource = await openOwn();
    const heard = dataSource.getRepository(Heard);
    const { statements } = await insertAll(
      heard,
      ['a', 'b'].map((name) => heard.create({ name })),
    );
    expect(statements).toHaveLength(2);
    expect(await heard.find()).toEqual([{ name: 'A' }, { name: 'B' }]);
  });

  it('that is refused at the commit has no id, and succeeds by itself when another was at fault', async () => {
    const dataSource = await openOwn();
    await dataSource.query('CREATE TABLE places (place integer PRIMARY KEY)');
    await dataSource.query('INSERT INTO places VALUES (1), (3)');
    await dataSource.query('DROP TABLE numbered');
    await dataSource.query(
      'CREATE TABLE numbered (id integer PRIMARY KEY AUTOINCREMENT, place integer REFERENCES places (place) DEFERRABLE INITIALLY DEFERRED)',
    );
    const numbered = dataSource.getRepository(Numbered);
    const rows = [1, 2, 3].map((place) => numbered.create({ place }));
    const outcomes = await Promise.allSettled(rows.map((one) => numbered.insert(one)));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(rows.map(({ id, place }) => [id, place])).toEqual([
      [expect.any(Number), 1],
      [undefined, 2],
      [expect.any(Number), 3],
    ]);
    expect(await numbered.find({ order: { place: 'ASC' } })).toEqual([rows[0], rows[2]]);
  });
});

import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDataSource } from '../../../src/database/data-source.js';
import type { Database } from '../../../src/database/database.js';
import { INT64_MAX, INT64_MIN } from '../../../src/database/int64.js';
import { JsonRows } from '../../../src/database/json-rows.js';
import { type Migration, checkSchema, migrate, schemaStatus } from '../../../src/database/schema.js';
import { PET_STATUSES, Pet } from '../../support/pets/pet.entity.js';
import { PetDto } from '../../support/pets/pets.dto.js';
import { type MadeDatabase, makeDatabase } from '../../kit/test-database.js';
import { dataSourceOfTest, postgresOfTest } from '../../support/databases.js';
import { POSTGRES_URL, REDIS_URL, describeWith } from '../../support/requirements.js';
import { databaseOfTest, folderOfTest, serviceOfTest } from '../../support/service-process.js';
import { removeRedisKeysAtEnd } from '../../support/redis-keys.js';

removeRedisKeysAtEnd();

describeWith('postgres', 'on PostgreSQL', () => {
  let made: MadeDatabase;
  let database: Database;
  beforeAll(async () => {
    made = await makeDatabase('postgres');
    database = await openDataSource({ databaseUrl: made.url });
    await migrate(database);
  });
  afterAll(async () => {
    await database.destroy();
    await made.remove();
  });

  const pet = (name: string) => ({ name, categoryId: 1n, status: 'available' as const });

  // What holds on both databases is in test/postgres/transactions.
  describe('a transaction', () => {
    const names = async () =>
      (await database.getRepository(Pet).find({ order: { id: 'ASC' } })).map(({ name }) => name);

    it('whose COMMIT returns ROLLBACK was not committed, and says so', async () => {
      await database.getRepository(Pet).clear();
      await expect(
        database.transaction(async () => {
          await database.getRepository(Pet).insert(pet('lost'));
          // A statement that has no savepoint leaves the transaction failed.
          await database.query(`SET LOCAL statement_timeout = 'soon'`).catch(() => undefined);
        }),
      ).rejects.toThrow('statement_timeout');
      expect(await names()).toEqual([]);
    });

    it('in parallel with others has its own connection', async () => {
      await database.getRepository(Pet).clear();
      const insert = (index: number) =>
        database.transaction(async () => {
          await database.getRepository(Pet).insert(pet(String(index)));
          if (index % 2 === 1) throw new Error('odd');
        });
      const settled = await Promise.allSettled(Array.from({ length: 30 }, (_, index) => insert(index)));
      // On a busy machine, some find no free connection within a second.
      const committed = settled.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []));
      expect(committed).toContain(0);
      expect(committed.filter((index) => index % 2 === 1)).toEqual([]);
      expect((await names()).map(Number).toSorted((a, b) => a - b)).toEqual(committed);
    });
  });

  describe('a row', () => {
    it('has the id that it brings, or a generated one, as bigint', async () => {
      const pets = database.getRepository(Pet);
      await pets.clear();
      for (const id of [INT64_MIN, -1n, 2n ** 53n + 1n, INT64_MAX]) {
        const row = { id, ...pet('own id') };
        await pets.insert(row);
        expect(row.id).toBe(id);
        expect((await pets.findOneByOrFail({ id })).id).toBe(id);
      }
      const generated = pets.create(pet('generated'));
      await pets.insert(generated);
      expect(generated.id).toBeTypeOf('bigint');
      const saved = await pets.save(pets.create({ id: 77n, ...pet('saved') }));
      expect((await pets.findOneByOrFail({ name: 'saved' })).id).toBe(saved.id);
      expect(saved.id).toBe(77n);
    });

    it('is shown as the same text as on SQLite, byte for byte, with the same pages', async () => {
      const sqlite = await dataSourceOfTest(await databaseOfTest());
      await migrate(sqlite);
      const int64 = fc.oneof(fc.bigInt(INT64_MIN, INT64_MAX), fc.constantFrom(INT64_MIN, INT64_MAX, 0n));
      const character = fc.oneof(
        fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
        fc.constantFrom('\u0001', '\u001f', '"', '\\', '/', '\u007f', '\u2028', 'é', 'Z', 'a', '😀'),
      );
      const rows = fc.uniqueArray(
        fc.record({
          id: int64,
          name: fc
            .array(character, { minLength: 1, maxLength: 12 })
            .map((all) => all.join('').replaceAll('\0', ' ')),
          categoryId: int64,
          status: fc.constantFrom(...PET_STATUSES),
        }),
        { maxLength: 12, selector: ({ id }) => id },
      );
      const order = fc.option(
        fc.record({ property: fc.constantFrom('name', 'categoryId', 'id'), isDescending: fc.boolean() }),
        { nil: undefined },
      );
      await fc.assert(
        fc.asyncProperty(rows, fc.integer({ min: 1, max: 5 }), order, async (pets, limit, by) => {
          const texts = [];
          for (const one of [sqlite, database]) {
            await one.getRepository(Pet).clear();
            for (const row of pets) await one.getRepository(Pet).insert({ ...row });
            const json = new JsonRows(one, one.reader);
            const pages: unknown[] = [];
            let after: readonly string[] | undefined;
            do {
              const page = await json.page(Pet, PetDto, {
                limit,
                ...(by ? { order: by } : {}),
                ...(after ? { after } : {}),
              });
              pages.push(page.items.text, page.next);
              after = page.next;
            } while (after);
            texts.push(pages);
          }
          expect(texts[1]).toEqual(texts[0]);
        }),
        { numRuns: 20 },
      );
    });
  });

  it('each statement is prepared, after any number of others, and no connection keeps more than a thousand', async () => {
    const { reader } = database;
    for (let one = 0; one < 1_200; one += 1) await reader.first(`SELECT ${one} AS one`, []);
    const read = async () => [
      await reader.first(`SELECT 'late' AS one`, []),
      await reader.first(
        `SELECT count(*) < 1000 AS few, count(*) FILTER (WHERE statement = $$SELECT 'late' AS one$$) AS late FROM pg_prepared_statements`,
        [],
      ),
    ];
    await read();
    expect(await read()).toEqual([{ one: 'late' }, { few: true, late: '1' }]);
  });

  it('a column that is added under a prepared statement does not break it', async () => {
    const read = async () => {
      // Every connection prepares it, and plans it again after some runs.
      for (let times = 0; times < 12; times += 1)
        await database.reader.first('SELECT * FROM pets WHERE id > ?1', [0]);
      return database.reader.first('SELECT * FROM pets WHERE id > ?1', [0]);
    };
    await database.getRepository(Pet).insert(pet('any'));
    expect(await read()).not.toHaveProperty('extra');
    await database.query('ALTER TABLE pets ADD COLUMN extra integer');
    expect(await read()).toHaveProperty('extra');
    await database.query('ALTER TABLE pets DROP COLUMN extra');
  });

  describe('migrations', () => {
    class Expands1999999999990 implements Migration {
      readonly onlyExpands = true;
      up = () => Promise.resolve();
      down = () => Promise.resolve();
    }
    class Contracts1999999999991 implements Migration {
      up = () => Promise.resolve();
      down = () => Promise.resolve();
    }

    it.each([
      ['starts on a schema that is newer by expansions alone', Expands1999999999990, undefined],
      [
        'refuses one behind a contraction',
        Contracts1999999999991,
        /Contracts1999999999991.*Start that version/,
      ],
    ])('an older build %s', async (_, Added, refusal) => {
      const url = await postgresOfTest();
      const newer = await dataSourceOfTest(url);
      newer.migrations.push(new Added());
      await migrate(newer);
      const older = await dataSourceOfTest(url);
      const outcome = await migrate(older).then(
        (ran) => ran,
        (error: Error) => error.message,
      );
      expect(outcome).toEqual(refusal ? expect.stringMatching(refusal) : []);
      expect((await schemaStatus(older)).unknown).toEqual([Added.name]);
    });

    it('are run once by several processes that start at the same time', async () => {
      const url = await postgresOfTest();
      const all = await Promise.all(
        Array.from({ length: 5 }, () => dataSourceOfTest(url, { isUnlimited: true })),
      );
      const ran = await Promise.all(all.map((one) => migrate(one)));
      expect(ran.filter(({ length }) => length > 0)).toHaveLength(1);
    });

    it('take their time whatever limits the database has set, and what follows them relies on no default of it', async () => {
      const url = await postgresOfTest();
      const name = new URL(url).pathname.slice(1);
      for (const [setting, value] of [
        ['default_transaction_isolation', 'serializable'],
        ['statement_timeout', '300ms'],
        ['idle_in_transaction_session_timeout', '300ms'],
        ['idle_session_timeout', '300ms'],
      ])
        await database.query(`ALTER DATABASE ${name} SET ${setting} = '${value}'`);
      const both = await Promise.all([1, 2].map(() => dataSourceOfTest(url, { isUnlimited: true })));
      await Promise.all(both.map((one) => one.whileMigrating(() => one.query('SELECT pg_sleep(1)'))));
      const serving = await dataSourceOfTest(url);
      expect(await serving.instanceSession?.claim('among others')).toBe(true);
      await serving.query('SELECT pg_sleep(0.2)');
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      expect(serving.instanceSession?.serves).toBe(true);
      const [isolation] = await serving.transaction((manager) => manager.query('SHOW transaction_isolation'));
      expect(isolation).toEqual({ transaction_isolation: 'read committed' });
    });

    it('that are missing are refused where a start only checks', async () => {
      const one = await dataSourceOfTest(await postgresOfTest());
      await expect(checkSchema(one)).rejects.toThrow(/lacks migrations .*Pets.*petstore db migrate/);
    });
  });

  describe('a start', () => {
    it('without Redis is refused alongside another instance, and one with Redis alongside one without', async () => {
      const [DATABASE_URL, folder] = [await postgresOfTest(), await folderOfTest()];
      const start = (more: NodeJS.ProcessEnv = {}) => serviceOfTest(folder, { DATABASE_URL, ...more });
      const without = await start();
      await expect(start()).rejects.toThrow(/Another instance runs.*Set REDIS_URL/s);
      await expect(start({ REDIS_URL })).rejects.toThrow(
        /An instance without REDIS_URL runs.*Set REDIS_URL/s,
      );
      await without.stop('SIGKILL');
      const sharing = await start({ REDIS_URL });
      await expect(start()).rejects.toThrow(/Another instance runs.*Set REDIS_URL/s);
      expect((await sharing.stop()).code).toBe(0);
    });

    it('on a database of another encoding is refused', async () => {
      const client = new pg.Client({ connectionString: POSTGRES_URL });
      await client.connect();
      const name = `petstore_latin_${process.pid}`;
      await client.query(
        `CREATE DATABASE ${name} ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'`,
      );
      const url = new URL(POSTGRES_URL);
      url.pathname = `/${name}`;
      await expect(openDataSource({ databaseUrl: url.href })).rejects.toThrow(/encoding LATIN1.*UTF8/);
      await client.query(`DROP DATABASE ${name}`);
      await client.end();
    });
  });
});

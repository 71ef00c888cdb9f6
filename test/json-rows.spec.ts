import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDataSource } from '../src/database/data-source.js';
import { INT64_MAX, INT64_MIN } from '../src/database/int64.js';
import { JsonRows } from '../src/database/json-rows.js';
import { migrate } from '../src/database/schema.js';
import type { SqliteDataSource } from '../src/database/sqlite/sqlite-data-source.js';
import { writeExactJson } from '../src/http/exact-json.js';
import { PET_STATUSES } from '../src/pets/pet-status.js';
import { Pet } from '../src/pets/pet.entity.js';
import { emptyFolder } from './support/service-process.js';

const int64 = fc.oneof(
  fc.bigInt(INT64_MIN, INT64_MAX),
  fc.constantFrom(INT64_MIN, INT64_MAX, 0n, 2n ** 53n + 1n),
);
const pets = fc.uniqueArray(
  fc.record({
    id: int64,
    // Half of a surrogate pair is no text; the database would store U+FFFD in its place.
    name: fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }),
    categoryId: int64,
    status: fc.constantFrom(...PET_STATUSES),
  }),
  { maxLength: 12, selector: ({ id }) => id },
);

describe.each([
  ['a file, by a connection of its own', (folder: string) => `sqlite:${join(folder, 'a.sqlite')}`],
  ['a database in memory, by the only connection', () => 'sqlite::memory:'],
])('JSON read from %s', (_, databaseUrl) => {
  let dataSource: SqliteDataSource;
  let remove: () => Promise<void>;
  beforeAll(async () => {
    const folder = await emptyFolder();
    remove = folder.remove;
    dataSource = (await openDataSource({ databaseUrl: databaseUrl(folder.path) })) as SqliteDataSource;
    await migrate(dataSource);
  });
  afterAll(async () => {
    await dataSource.destroy();
    await remove();
  });

  it('is byte for byte what the entities are written as, page by page and one by one', async () => {
    const [rows, repository] = [new JsonRows(dataSource, dataSource.reader), dataSource.getRepository(Pet)];
    const status = fc.option(fc.constantFrom(...PET_STATUSES), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(pets, fc.integer({ min: 1, max: 5 }), status, async (made, limit, only) => {
        await repository.clear();
        for (const pet of made) await repository.insert(pet);
        const found = await repository.find({
          where: only === undefined ? {} : { status: only },
          order: { id: 'ASC' },
        });
        let after: readonly string[] | undefined;
        for (let at = 0; at === 0 || at < found.length; at += limit) {
          const page = await rows.page(
            Pet,
            { limit, ...(after ? { after } : {}) },
            only === undefined ? {} : { status: only },
          );
          expect(page.items.text).toBe(writeExactJson(found.slice(at, at + limit)));
          expect(page.next !== undefined).toBe(at + limit < found.length);
          after = page.next;
        }
        for (const pet of found) expect((await rows.one(Pet, pet.id))?.text).toBe(writeExactJson(pet));
      }),
      { numRuns: 60 },
    );
    expect(await rows.one(Pet, 424_242n)).toBeUndefined();
  }, 60_000);

  it('sees a commit as soon as it is acknowledged', async () => {
    const [rows, repository] = [new JsonRows(dataSource, dataSource.reader), dataSource.getRepository(Pet)];
    await repository.clear();
    for (let round = 1n; round <= 50n; round += 1n) {
      await repository.insert({ id: round, name: 'Rex', categoryId: 1n, status: 'sold' });
      expect((await rows.one(Pet, round))?.text).toContain(`"id":${round},`);
    }
  });

  it('refuses an entity whose columns it cannot show', async () => {
    const rows = new JsonRows(dataSource, dataSource.reader);
    await expect(rows.one('ApiKey', 1n)).rejects.toThrow('cannot show');
  });
});

import { DataSource } from 'typeorm';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/database/database.js';
import { ON_POSTGRES } from '../support/databases.js';
import { Pet } from '../support/pets/pet.entity.js';
import { UNLIMITED, openForAll } from '../support/opened.js';

const service = await openForAll({ ...UNLIMITED, database: 'file' });
const database = service.app.get(DataSource) as Database;
const { reader } = database;
/** More than any database joins into one statement. */
const COUNT = 45;

/** The result of each read, all of which are sent in one turn of the event loop. */
async function readAtOnce(sql: string, parameters: readonly (string | number | null)[]): Promise<unknown[]> {
  const results = await Promise.allSettled(parameters.map((one) => reader.row(sql, [one])));
  return results.map((result) => (result.status === 'fulfilled' ? result.value?.['value'] : 'failed'));
}

describe('reads of one statement at the same time', () => {
  beforeAll(async () => {
    const pets = Array.from({ length: COUNT }, (_, index) => ({
      name: `Pet ${index}`,
      categoryId: BigInt(index),
      status: 'available' as const,
    }));
    await database.getRepository(Pet).insert(pets);
  });

  it.each([1, 2, 3, 4, 5, 7, 16, 17, COUNT])(
    'each return their own row, or none: %i of them',
    async (count) => {
      const ids = Array.from({ length: count }, (_, index) => (index % 3 === 1 ? 9_000 + index : index + 1));
      expect(await readAtOnce('SELECT name AS value FROM pets WHERE id = ?1', ids)).toEqual(
        ids.map((id) => (id > COUNT ? undefined : `Pet ${id - 1}`)),
      );
    },
  );

  it('fail only if they would fail alone', async () => {
    const sql = `SELECT CAST(${ON_POSTGRES ? 'CAST(?1 AS json)' : 'json(?1)'} AS text) AS value`;
    const texts = Array.from({ length: 20 }, (_, index) => (index % 7 === 3 ? 'no JSON' : String(index)));
    expect(await readAtOnce(sql, texts)).toEqual(texts.map((text) => (text === 'no JSON' ? 'failed' : text)));
  });

  it('see every commit that was acknowledged before them', async () => {
    const sql = 'SELECT name AS value FROM pets WHERE id = ?1';
    for (let round = 0; round < 30; round += 1) {
      const earlier = readAtOnce(sql, [1, 1, 1]);
      await database.getRepository(Pet).update({ id: 1n }, { name: `Round ${round}` });
      const later = readAtOnce(sql, [1, 1, 1, 1, 1]);
      expect(new Set(await later)).toEqual(new Set([`Round ${round}`]));
      await earlier;
    }
  });

  it('return each pet over HTTP, with 404 for those that do not exist', async () => {
    const ids = Array.from({ length: 30 }, (_, index) => (index % 4 === 2 ? 9_000 + index : index + 2));
    const responses = await Promise.all(ids.map((id) => service.request('GET', `/v1/pets/${id}`)));
    expect(responses.map(({ status, body }) => (status === 200 ? body.id : status))).toEqual(
      ids.map((id) => (id > COUNT ? 404 : id)),
    );
  });

  it.runIf(ON_POSTGRES)('do not fail when a column is added under their prepared statement', async () => {
    const sql = 'SELECT *, name AS value FROM pets WHERE id = ?1';
    const ids = [2, 3, 4, 5];
    const names = ids.map((id) => `Pet ${id - 1}`);
    // Every connection prepares the statement and plans it again after some runs.
    for (let times = 0; times < 40; times += 1) expect(await readAtOnce(sql, ids)).toEqual(names);
    await database.query('ALTER TABLE pets ADD COLUMN extra integer');
    expect(await readAtOnce(sql, ids)).toEqual(names);
    await database.query('ALTER TABLE pets DROP COLUMN extra');
  });
});

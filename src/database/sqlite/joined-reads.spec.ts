import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import sqlite3 from 'sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Bound, Row } from './connection.js';
import { JoinedReads, READ_OF_ROW } from './joined-reads.js';

const ONE = 'SELECT id, name FROM animals WHERE id = ?1';
const QUOTED = `SELECT '?1 isn''t ?2' AS text, name AS "a ?1" FROM animals WHERE name > ?2 AND id > ?1 ORDER BY name, id LIMIT 1`;
const PAGE =
  'SELECT json_group_array(name) AS names, count(*) AS found FROM (SELECT name FROM animals WHERE id >= ?2 ORDER BY id LIMIT ?1)';
const FAILING = 'SELECT json_extract(?1, ?2) AS value';

let connection: sqlite3.Database;
const asked: string[] = [];

const all = (sql: string, parameters: readonly Bound[]): Promise<Row[]> => {
  asked.push(sql);
  return new Promise((resolve, reject) => {
    connection.all<Row>(sql, parameters, (error, rows) => (error ? reject(error) : resolve(rows)));
  });
};

beforeAll(async () => {
  connection = new sqlite3.Database(':memory:');
  await all('CREATE TABLE animals (id INTEGER PRIMARY KEY, name TEXT)', []);
  await all(
    `INSERT INTO animals WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 50)
     SELECT id, 'Animal ' || (id * 7 % 50) FROM n`,
    [],
  );
});
afterAll(() => new Promise((resolve) => connection.close(resolve)));

const id = fc.integer({ min: -1, max: 55 });
const read = fc.oneof(
  fc.tuple(fc.constant(ONE), fc.tuple(id)),
  fc.tuple(fc.constant(QUOTED), fc.tuple(id, fc.constantFrom('', 'Animal 3', 'Z', null))),
  fc.tuple(fc.constant(PAGE), fc.tuple(fc.integer({ min: 0, max: 60 }), id)),
  fc.tuple(
    fc.constant(FAILING),
    fc.tuple(fc.constantFrom('{"a":1}', '{', null), fc.constantFrom('$.a', 'a', '$')),
  ),
);

type Outcome = { readonly row: Row | undefined } | { readonly error: string };

async function outcomeOf(reading: Promise<Row | undefined>): Promise<Outcome> {
  try {
    const row = await reading;
    if (!row) return { row };
    const { [READ_OF_ROW]: _, ...rest } = row;
    return { row: rest };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

describe('joined reads', () => {
  it('each get what they would get alone, and fail alone', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(read, { maxLength: 40 }), { maxLength: 3 }), async (turns) => {
        const joined = new JoinedReads(all);
        const outcomes: Promise<Outcome>[] = [];
        for (const turn of turns) {
          outcomes.push(...turn.map(([sql, parameters]) => outcomeOf(joined.first(sql, parameters))));
          await nextTurn();
        }
        const alone = turns
          .flat()
          .map(([sql, parameters]) => outcomeOf(all(sql, parameters).then(([row]) => row)));
        expect(await Promise.all(outcomes)).toEqual(await Promise.all(alone));
      }),
      { numRuns: 60 },
    );
  });

  it('of one turn are few statements, and of one statement one at a time runs', async () => {
    let running = 0;
    const sizes: number[] = [];
    const joined = new JoinedReads(async (sql, parameters) => {
      running += 1;
      expect(running).toBe(1);
      sizes.push(parameters.length);
      const rows = await all(sql, parameters);
      running -= 1;
      return rows;
    });
    const reads = Array.from({ length: 39 }, (_, index) => joined.first(ONE, [index + 1]));
    await nextTurn();
    const later = [40, 41].map((one) => joined.first(ONE, [one]));
    expect((await Promise.all([...reads, ...later])).map((row) => row?.['id'])).toEqual(
      Array.from({ length: 41 }, (_, index) => index + 1),
    );
    // 41 in all: the two that came while the first were under way are read with the rest.
    expect(sizes).toEqual([16, 16, 8, 1]);
  });

  it('of one statement that reads alone is the statement itself', async () => {
    asked.length = 0;
    await new JoinedReads(all).first(ONE, [1]);
    expect(asked).toEqual([ONE]);
  });
});

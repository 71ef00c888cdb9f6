import sqlite3 from 'sqlite3';
import { expect, it, onTestFinished } from 'vitest';
import { SQLITE_DIALECT, type ShownKind } from './dialect.js';

async function shownBySqlite(kind: ShownKind, value: unknown): Promise<string> {
  const database = new sqlite3.Database(':memory:');
  onTestFinished(() => {
    database.close();
  });
  const object = SQLITE_DIALECT.object([{ name: 'a', column: 'value', kind, isAbsentAsNull: false }]);
  return new Promise((resolve, reject) => {
    const sql = `SELECT ${object} AS shown FROM (SELECT ?1 AS value)`;
    database.get<{ shown: string }>(sql, [value], (error, row) =>
      error ? reject(error) : resolve(row.shown),
    );
  });
}

it.each<[ShownKind, unknown]>([
  ['boolean', true],
  ['boolean', false],
  ['boolean', null],
  ['number', null],
])('SQLite shows the %s %j as JSON.stringify() does', async (kind, value) => {
  expect(await shownBySqlite(kind, value)).toBe(JSON.stringify({ a: value }));
});

it.each([0, 1, -1, 0.1, 0.1 + 0.2, 1 / 3, 2 ** 53, 5e-324, 1e-7, 1e21, Number.MAX_VALUE])(
  'SQLite shows the number %j exactly',
  async (value) => {
    expect(JSON.parse(await shownBySqlite('number', value))).toEqual({ a: value });
  },
);

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sqlite3 from 'sqlite3';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { Connection } from './connection.js';

interface Outcome {
  readonly error: string | null;
  readonly rows?: unknown[] | undefined;
  readonly lastID?: number | undefined;
  readonly changes?: number | undefined;
}

const INSERT = 'INSERT INTO pets (name) VALUES (?)';
const PREPARED = { most: 64, takes: (sql: string) => !sql.includes('RETURNING') };
let database: sqlite3.Database;
let connection: Connection;

/** Runs a statement as TypeORM does, by the driver or by a connection that keeps statements prepared. */
const on =
  (runner: sqlite3.Database | Connection['driver']) =>
  (way: 'run' | 'all', sql: string, parameters: unknown[] = []): Promise<Outcome> =>
    new Promise((resolve) => {
      runner[way](sql, parameters, function (this: sqlite3.RunResult, error: Error | null, rows?: unknown[]) {
        const told = error === null && way === 'run' ? { lastID: this.lastID, changes: this.changes } : {};
        resolve({ error: error && error.message, rows, ...told });
      });
    });

const run = (sql: string, ...parameters: unknown[]) => on(connection.driver)('run', sql, parameters);
const all = (sql: string) => on(connection.driver)('all', sql);
const names = async () =>
  (await on(database)('all', 'SELECT name FROM pets ORDER BY id')).rows?.map(
    (row) => (row as { name: string }).name,
  );

beforeEach(async () => {
  database = new sqlite3.Database(':memory:');
  connection = new Connection(database, PREPARED);
  await all('CREATE TABLE pets (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)');
});

describe('statements that are kept', () => {
  it.each([
    { name: 'an insert', way: 'run', sql: INSERT, parameters: ['Rex'] },
    { name: 'several rows', way: 'run', sql: `${INSERT}, (?)`, parameters: ['Rex', 'Žofie'] },
    { name: 'a broken rule', way: 'run', sql: INSERT, parameters: [null] },
    {
      name: 'a table that is not there',
      way: 'run',
      sql: 'INSERT INTO cats (name) VALUES (?)',
      parameters: ['a'],
    },
    { name: 'no SQL', way: 'run', sql: 'INSERT INTO', parameters: [] },
    { name: 'a transaction', way: 'all', sql: 'BEGIN IMMEDIATE TRANSACTION', parameters: [] },
    { name: 'a commit of nothing', way: 'all', sql: 'COMMIT', parameters: [] },
    { name: 'rows', way: 'all', sql: 'SELECT 1 AS one', parameters: [] },
    { name: 'rows of an insert', way: 'all', sql: `${INSERT} RETURNING id`, parameters: ['Rex'] },
    { name: 'rows of an insert over lines', way: 'run', sql: `${INSERT}\nRETURNING id`, parameters: ['Rex'] },
  ] as const)(
    'tell of $name what sqlite3 tells, the first time and the second',
    async ({ way, sql, parameters }) => {
      const plain = new sqlite3.Database(':memory:');
      await on(plain)('all', 'CREATE TABLE pets (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)');
      const wanted = [await on(plain)(way, sql, [...parameters]), await on(plain)(way, sql, [...parameters])];
      expect([
        await on(connection.driver)(way, sql, [...parameters]),
        await on(connection.driver)(way, sql, [...parameters]),
      ]).toEqual(wanted);
      await new Promise((resolve) => plain.close(resolve));
    },
  );

  it('hold no lock after a refused row: the transaction goes on, and ends', async () => {
    await run(INSERT, 'a');
    await all('BEGIN IMMEDIATE TRANSACTION');
    expect(await run(INSERT, 'a')).toMatchObject({ error: expect.stringContaining('UNIQUE') as unknown });
    expect(await run(INSERT, 'b')).toMatchObject({ error: null, lastID: 2, changes: 1 });
    expect(await all('COMMIT')).toMatchObject({ error: null });
    await all('BEGIN IMMEDIATE TRANSACTION');
    await run(INSERT, 'c');
    expect(await on(connection.driver)('all', 'ROLLBACK')).toMatchObject({ error: null });
    expect(await names()).toEqual(['a', 'b']);
  });

  it('begin anew after they found the database locked', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'petstore-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const [own, other] = [0, 1].map(() => new sqlite3.Database(join(folder, 'a.sqlite'))) as [
      sqlite3.Database,
      sqlite3.Database,
    ];
    own.configure('busyTimeout', 1);
    connection = new Connection(own, PREPARED);
    await on(other)('all', 'PRAGMA journal_mode = WAL');
    await on(other)('all', 'CREATE TABLE pets (id INTEGER PRIMARY KEY, name TEXT)');
    for (const name of ['a', 'b', 'c']) {
      await on(other)('all', 'BEGIN IMMEDIATE');
      await on(other)('run', INSERT, [`${name} of the other`]);
      for (let tries = 0; tries < 2; tries += 1)
        expect(await all('BEGIN IMMEDIATE TRANSACTION')).toMatchObject({
          error: expect.stringContaining('SQLITE_BUSY') as unknown,
        });
      expect(await run(INSERT, name)).toMatchObject({
        error: expect.stringContaining('SQLITE_BUSY') as unknown,
      });
      await on(other)('all', 'COMMIT');
      expect(await all('BEGIN IMMEDIATE TRANSACTION')).toMatchObject({ error: null });
      expect(await run(INSERT, name)).toMatchObject({ error: null });
      expect(await all('COMMIT')).toMatchObject({ error: null });
    }
    await connection.close();
    await new Promise((resolve) => other.close(resolve));
  });

  it('are prepared again by SQLite when the table has changed', async () => {
    await run(INSERT, 'a');
    await all('ALTER TABLE pets ADD COLUMN status TEXT DEFAULT 3');
    await run(INSERT, 'b');
    expect(await all('SELECT status FROM pets')).toMatchObject({ rows: [{ status: '3' }, { status: '3' }] });
    await all('DROP TABLE pets');
    expect(await run(INSERT, 'c')).toMatchObject({
      error: expect.stringContaining('no such table') as unknown,
    });
    await all('CREATE TABLE pets (id INTEGER PRIMARY KEY, name TEXT)');
    expect(await run(INSERT, 'd')).toMatchObject({ error: null, lastID: 1 });
  });

  it.each([0, 1])(
    'let the connection be closed, also while one is prepared or runs (%i before)',
    async (before) => {
      for (let times = 0; times < before; times += 1) await run(INSERT, 'a');
      const last = run(INSERT, 'b');
      await expect(connection.close()).resolves.toBeUndefined();
      expect(await last).toHaveProperty('error');
    },
  );
});

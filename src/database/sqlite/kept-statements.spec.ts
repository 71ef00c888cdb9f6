import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sqlite3 from 'sqlite3';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { KeptStatements } from './kept-statements.js';

interface Outcome {
  readonly error: string | null;
  readonly rows?: unknown[] | undefined;
  readonly lastID?: number | undefined;
  readonly changes?: number | undefined;
}

const INSERT = 'INSERT INTO pets (name) VALUES (?)';
let connection: sqlite3.Database;
let kept: KeptStatements;

/** Runs a statement as TypeORM does, on a connection or on its kept statements. */
const on =
  (runner: sqlite3.Database | KeptStatements) =>
  (way: 'run' | 'all', sql: string, parameters: unknown[] = []): Promise<Outcome> =>
    new Promise((resolve) => {
      runner[way](sql, parameters, function (this: sqlite3.RunResult, error: Error | null, rows?: unknown[]) {
        const told = error === null && way === 'run' ? { lastID: this.lastID, changes: this.changes } : {};
        resolve({ error: error && error.message, rows, ...told });
      });
    });

const run = (sql: string, ...parameters: unknown[]) => on(kept)('run', sql, parameters);
const all = (sql: string) => on(kept)('all', sql);
const names = async () =>
  (await on(connection)('all', 'SELECT name FROM pets ORDER BY id')).rows?.map(
    (row) => (row as { name: string }).name,
  );
const closed = () => new Promise<Error | null>((resolve) => connection.close(resolve));

beforeEach(async () => {
  connection = new sqlite3.Database(':memory:');
  kept = new KeptStatements(connection);
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
      expect([await on(kept)(way, sql, [...parameters]), await on(kept)(way, sql, [...parameters])]).toEqual(
        wanted,
      );
      await new Promise((resolve) => plain.close(resolve));
    },
  );

  it('are prepared once', async () => {
    const prepared = vi.spyOn(connection, 'prepare');
    for (const name of ['a', 'b', 'c']) {
      await all('BEGIN IMMEDIATE TRANSACTION');
      await run(INSERT, name);
      await all('COMMIT');
    }
    expect(prepared).toHaveBeenCalledTimes(3);
    expect(await names()).toEqual(['a', 'b', 'c']);
  });

  it('hold no lock after a refused row: the transaction goes on, and ends', async () => {
    await run(INSERT, 'a');
    await all('BEGIN IMMEDIATE TRANSACTION');
    expect(await run(INSERT, 'a')).toMatchObject({ error: expect.stringContaining('UNIQUE') as unknown });
    expect(await run(INSERT, 'b')).toMatchObject({ error: null, lastID: 2, changes: 1 });
    expect(await all('COMMIT')).toMatchObject({ error: null });
    await all('BEGIN IMMEDIATE TRANSACTION');
    await run(INSERT, 'c');
    expect(await on(kept)('all', 'ROLLBACK')).toMatchObject({ error: null });
    expect(await names()).toEqual(['a', 'b']);
  });

  it('begin anew after they found the database locked', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'petstore-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const [own, other] = [0, 1].map(() => new sqlite3.Database(join(folder, 'a.sqlite'))) as [
      sqlite3.Database,
      sqlite3.Database,
    ];
    kept = new KeptStatements(own);
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
    kept.finalize();
    for (const one of [own, other]) expect(await new Promise((resolve) => one.close(resolve))).toBeNull();
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

  it('are not kept beyond a number and a length', async () => {
    const rows = (count: number) => `${INSERT}${', (?)'.repeat(count - 1)}`;
    for (let count = 1; count <= 200; count += 1) {
      const given = Array.from({ length: count }, (_, index) => `${count}/${index}`);
      expect(await run(rows(count), ...given)).toMatchObject({ error: null, changes: count });
    }
    const prepared = vi.spyOn(connection, 'prepare');
    const long = `INSERT INTO pets (name) VALUES (?)${' '.repeat(5_000)}`;
    await run(long, 'a');
    await run(long, 'b');
    await run(rows(200), ...Array.from({ length: 200 }, (_, index) => `again ${index}`));
    expect(prepared).not.toHaveBeenCalled();
    await run(rows(1), 'c');
    expect(prepared).toHaveBeenCalledTimes(1);
  });

  it('let the connection be closed once they are given up', async () => {
    await run(INSERT, 'a');
    kept.finalize();
    expect(await closed()).toBeNull();
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as nestKeys from '@nestjs/common/constants.js';
import sqlite3 from 'sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Backup, type WithBackup, copyPages } from '../../src/database/backup/page-copy.js';
import { emptyFolder } from '../support/service-process.js';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const DECISION = 'docs/decisions/0011-nests-chain.md';

/** The files of a folder, below it too. */
function filesOf(folder: string, ending: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => join(folder, file));
}

/** Modules of packages that the service imports past their public entrance, other than their types, each with who does. */
function deepImports(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const file of filesOf(join(ROOT, 'src'), '.ts').toSorted()) {
    if (file.endsWith('.spec.ts')) continue;
    const imports = readFileSync(file, 'utf8').matchAll(
      /^(?!import type)[^'\n]*(?:from|import)\s*\(?\s*'((?:@nestjs\/[\w-]+|class-transformer|express|router|typeorm|pg|sqlite3)\/[^']+)'/gm,
    );
    for (const [, name = ''] of imports) found.set(name, [...(found.get(name) ?? []), file]);
  }
  return found;
}

describe('what the service reads of the insides of Nest, Express, Throttler, TypeORM and the drivers', () => {
  it(`stands in ${DECISION}, each with a test that is there`, () => {
    const rows = readFileSync(join(ROOT, DECISION), 'utf8').matchAll(
      /^\| `((?:@nestjs|class-transformer|express|router|typeorm|pg|sqlite3)[^`]*\/[^`]*)` .*$/gm,
    );
    const listed = new Map([...rows].map(([row, name = '']) => [name, row]));
    expect([...listed.keys()].toSorted()).toEqual([...deepImports().keys()].toSorted());
    for (const row of listed.values()) {
      const tests = [...row.matchAll(/[\w./-]+\.spec\.ts/g)].map(([test]) => test);
      expect(tests.length, row).toBeGreaterThan(0);
      const all = [...filesOf(join(ROOT, 'test'), '.spec.ts'), ...filesOf(join(ROOT, 'src'), '.spec.ts')];
      for (const test of tests)
        expect(
          all.some((file) => file.endsWith(`/${test}`)),
          test,
        ).toBe(true);
    }
  });

  it('is nothing but imports, beside the routes of Express’s router in one file', () => {
    for (const file of filesOf(join(ROOT, 'src/http'), '.ts').filter(
      (one) => !one.endsWith('/registered-routes.ts'),
    ))
      expect(readFileSync(file, 'utf8'), file).not.toMatch(
        /router\.stack|\.stack\b.*layer|handle(?:r)?\.name\b/i,
      );
  });

  // A key that is not among them would not make an operation Nest's, although Nest reads it.
  it('every key by which Nest’s router reads metadata is among its constants', () => {
    const core = dirname(createRequire(import.meta.url).resolve('@nestjs/core/package.json'));
    const keys = new Set<string>();
    for (const folder of ['router', 'guards', 'pipes', 'interceptors', 'exceptions', 'helpers'])
      for (const file of filesOf(join(core, folder), '.js'))
        for (const [, read, named] of readFileSync(file, 'utf8').matchAll(
          /(?:get|has)Metadata\(\s*(?:\w+\.)?([A-Z_]{4,})|\b([A-Z][A-Z_]*_METADATA)\b/g,
        ))
          keys.add(read ?? named ?? '');
    expect(keys.size).toBeGreaterThan(18);
    expect([...keys].filter((key) => !(key in nestKeys))).toEqual([]);
  });
});

// The package has it, its manual names it, its types do not.
describe('sqlite3’s backup()', () => {
  const opened = async () => {
    const { path, remove } = await emptyFolder();
    onTestFinished(remove);
    const database = new sqlite3.Database(join(path, 'from.sqlite'));
    onTestFinished(() => new Promise((resolve) => database.close(() => resolve())));
    await run(
      database,
      'PRAGMA journal_mode = WAL; CREATE TABLE kept (bytes); INSERT INTO kept VALUES (zeroblob(40000))',
    );
    return { path, database };
  };
  const run = (database: sqlite3.Database, sql: string) =>
    new Promise<void>((resolve, reject) =>
      database.exec(sql, (error) => {
        if (error) reject(error);
        else resolve();
      }),
    );

  it('copies so many pages at a step, tells how many are left, and ends', async () => {
    const { path, database } = await opened();
    const backup = await new Promise<Backup>((resolve, reject) => {
      const begun: Backup = (database as WithBackup).backup(join(path, 'to.sqlite'), (error) => {
        if (error) reject(error);
        else resolve(begun);
      });
    });
    const left: number[] = [];
    while (!backup.completed) {
      await new Promise((resolve) => backup.step(4, resolve));
      left.push(backup.remaining);
    }
    expect(backup.pageCount).toBeGreaterThan(8);
    expect(left.slice(0, 2)).toEqual([backup.pageCount - 4, backup.pageCount - 8]);
    expect(left.at(-1)).toBe(0);
    await new Promise<void>((resolve) => backup.finish(resolve));
  });

  it('in a read transaction neither begins again nor copies what is committed meanwhile', async () => {
    const { path, database } = await opened();
    const writer = new sqlite3.Database(join(path, 'from.sqlite'));
    onTestFinished(() => new Promise((resolve) => writer.close(() => resolve())));
    await run(database, 'BEGIN; SELECT count(*) FROM kept');
    await run(writer, 'INSERT INTO kept VALUES (zeroblob(4000000))');
    const told: number[] = [];
    await copyPages(database, join(path, 'to.sqlite'), (done, of) => told.push(done, of));
    const copy = new sqlite3.Database(join(path, 'to.sqlite'));
    onTestFinished(() => new Promise((resolve) => copy.close(() => resolve())));
    const rows = await new Promise((resolve) =>
      copy.all('SELECT length(bytes) AS bytes FROM kept', (_, found) => resolve(found)),
    );
    expect(rows).toEqual([{ bytes: 40_000 }]);
    // It was one step: the pages of the moment at which the transaction began.
    expect(told).toHaveLength(2);
  });
});

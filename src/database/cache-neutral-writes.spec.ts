import type { DataSource } from 'typeorm';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { CacheNeutralWrites } from './cache-neutral-writes.js';
import { openDataSource } from './data-source.js';
import type { SqliteDataSource } from './sqlite/sqlite-data-source.js';

let dataSource: DataSource;
let cacheNeutralWrites: CacheNeutralWrites;

beforeEach(async () => {
  dataSource = await openDataSource({ databaseUrl: 'sqlite::memory:' });
  onTestFinished(() => dataSource.destroy());
  cacheNeutralWrites = new CacheNeutralWrites((dataSource as SqliteDataSource).transactions);
  await dataSource.query('CREATE TABLE written (what TEXT NOT NULL)');
});

const insert = (what: string) => `INSERT INTO written VALUES ('${what}')`;
const written = async () =>
  (await dataSource.query<{ what: string }[]>('SELECT what FROM written')).map(({ what }) => what);
const version = async () =>
  (await dataSource.query<{ user_version: number }[]>('PRAGMA user_version'))[0]?.user_version;

describe('cache-neutral writes', () => {
  it('answer what the work answers, and always leave something to commit', async () => {
    expect(await cacheNeutralWrites.run(() => Promise.resolve('done'))).toBe('done');
    expect(await version()).toBe(1);
    await cacheNeutralWrites.run((manager) => manager.query(insert('a')));
    expect([await version(), await written()]).toEqual([2, ['a']]);
  });

  it('are no part of the transaction in which they are begun', async () => {
    let neutral: Promise<unknown> = Promise.resolve();
    const outer = dataSource.transaction(async (manager) => {
      await manager.query(insert('rolled back'));
      neutral = cacheNeutralWrites.run((own) => own.query(insert('stays')));
      throw new Error('no');
    });
    await expect(outer).rejects.toThrow('no');
    await neutral;
    expect(await written()).toEqual(['stays']);
  });

  it('are taken part in by repositories, the DataSource and JSON reads, which see what was written', async () => {
    const count = 'SELECT count(*) AS n FROM written';
    await cacheNeutralWrites.run(async (manager) => {
      await manager.query(insert('a'));
      await dataSource.query(insert('b'));
      expect(await dataSource.query(count)).toEqual([{ n: 2 }]);
      expect(await (dataSource as SqliteDataSource).reader.first(count, [])).toEqual({ n: 2 });
    });
    const failing = cacheNeutralWrites.run(async () => {
      await dataSource.query(insert('c'));
      throw new Error('undo');
    });
    await expect(failing).rejects.toThrow('undo');
    expect(await written()).toEqual(['a', 'b']);
  });
});

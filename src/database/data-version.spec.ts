import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { emptyFolder } from '../../test/support/service-process.js';
import { CacheNeutralWrites } from './cache-neutral-writes.js';
import { openDataSource } from './data-source.js';
import { ALL_CACHED, OwnWritesVersion } from './data-version.js';
import type { SqliteDataSource } from './sqlite/sqlite-data-source.js';

describe('the state of a database', () => {
  it('that nobody else writes to is another one after every write', () => {
    const version = new OwnWritesVersion();
    const seen = new Set([version.current('rows')]);
    for (let write = 0; write < 3; write += 1) {
      version.note();
      expect(version.current('rows')).toBe(version.current('rows'));
      seen.add(version.current('rows'));
    }
    expect(seen.size).toBe(4);
  });

  it('in memory is another one after every statement that may write, and no other after one that reads', async () => {
    const dataSource = await openDataSource({ databaseUrl: 'sqlite::memory:' });
    onTestFinished(() => dataSource.destroy());
    await dataSource.query('CREATE TABLE written (what TEXT NOT NULL)');
    const version = (dataSource as SqliteDataSource).dataVersion;
    const after = async (sql: string) => {
      const before = version.current('responses');
      await dataSource.query(sql).catch(() => undefined);
      return version.current('responses') !== before;
    };
    expect(await after(`INSERT INTO written VALUES ('a')`)).toBe(true);
    expect(await after('INSERT INTO written VALUES (NULL)')).toBe(true);
    expect(await after('SELECT 1')).toBe(false);
    expect(await after('  \n SELECT what FROM written')).toBe(false);
    expect(await after('WITH row AS (SELECT 1) INSERT INTO written SELECT * FROM row')).toBe(true);
  });

  it.each(ALL_CACHED)(
    'in a file is another one, for %s, after every commit of this process and of any other',
    async (cached) => {
      const { path, remove } = await emptyFolder();
      onTestFinished(remove);
      const databaseUrl = `sqlite:${join(path, 'a.sqlite')}`;
      const [ours, theirs] = [await openDataSource({ databaseUrl }), await openDataSource({ databaseUrl })];
      const { dataVersion, transactions } = ours as SqliteDataSource;
      // A commit that is declared proves that the state can be told.
      await new CacheNeutralWrites(transactions).run(() => Promise.resolve());
      await ours.query('CREATE TABLE written (what TEXT NOT NULL)');
      const seen = new Set([dataVersion.current(cached)]);
      for (const dataSource of [ours, theirs, theirs, ours]) {
        await dataSource.query(`INSERT INTO written VALUES ('a')`);
        seen.add(dataVersion.current(cached));
        await dataSource.query('SELECT what FROM written');
        seen.add(dataVersion.current(cached));
      }
      expect(seen.size).toBe(5);
      await ours.destroy();
      await theirs.destroy();
    },
  );
});

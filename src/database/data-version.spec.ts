import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { emptyFolder } from '../../test/support/service-process.js';
import { QuietWrites } from './cache-neutral-writes.js';
import { openDataSource } from './data-source.js';
import { OwnWrites, UnknownState } from './data-version.js';
import type { SqliteDataSource } from './sqlite/sqlite-data-source.js';

describe('the state of a database', () => {
  it('that cannot tell it is unknown, whatever is declared', () => {
    const state = new UnknownState();
    state.expectCommit([]);
    state.withdraw();
    expect(state.current()).toBeUndefined();
  });

  it('that nobody else writes to is another one after every write', () => {
    const state = new OwnWrites();
    const seen = new Set([state.current()]);
    for (let write = 0; write < 3; write += 1) {
      state.note();
      expect(state.current()).toBe(state.current());
      seen.add(state.current());
    }
    expect(seen.size).toBe(4);
  });

  it('in memory is another one after every statement that may write, and no other after one that reads', async () => {
    const dataSource = await openDataSource({ databaseUrl: 'sqlite::memory:' });
    onTestFinished(() => dataSource.destroy());
    await dataSource.query('CREATE TABLE written (what TEXT NOT NULL)');
    const state = (dataSource as SqliteDataSource).committed;
    const after = async (sql: string) => {
      const before = state.current('answers');
      await dataSource.query(sql).catch(() => undefined);
      return state.current('answers') !== before;
    };
    expect(await after(`INSERT INTO written VALUES ('a')`)).toBe(true);
    expect(await after('INSERT INTO written VALUES (NULL)')).toBe(true);
    expect(await after('SELECT 1')).toBe(false);
    expect(await after('  \n SELECT what FROM written')).toBe(false);
    expect(await after('WITH row AS (SELECT 1) INSERT INTO written SELECT * FROM row')).toBe(true);
  });

  it.each(['answers', 'keys'] as const)(
    'in a file is another one, for %s, after every commit of this process and of any other',
    async (remembered) => {
      const { path, remove } = await emptyFolder();
      onTestFinished(remove);
      const databaseUrl = `sqlite:${join(path, 'a.sqlite')}`;
      const [ours, theirs] = [await openDataSource({ databaseUrl }), await openDataSource({ databaseUrl })];
      const { committed, transactions } = ours as SqliteDataSource;
      // A commit that is declared proves that the state can be told.
      await new QuietWrites(ours, committed, transactions).run(() => Promise.resolve());
      await ours.query('CREATE TABLE written (what TEXT NOT NULL)');
      const seen = new Set([committed.current(remembered)]);
      for (const dataSource of [ours, theirs, theirs, ours]) {
        await dataSource.query(`INSERT INTO written VALUES ('a')`);
        seen.add(committed.current(remembered));
        await dataSource.query('SELECT what FROM written');
        seen.add(committed.current(remembered));
      }
      expect(seen.size).toBe(5);
      await ours.destroy();
      await theirs.destroy();
    },
  );
});

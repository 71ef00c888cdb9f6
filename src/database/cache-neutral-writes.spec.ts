import type { DataSource } from 'typeorm';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { CacheNeutralWrites, commitChanging } from './cache-neutral-writes.js';
import { openDataSource } from './data-source.js';
import { DataVersion, NO_VERSIONS, type CachedKind, type Versions } from './data-version.js';
import type { SqliteDataSource } from './sqlite/sqlite-data-source.js';
import type { Transactions } from './transactions.js';

/** Notes what it is told. */
class ToldState extends DataVersion {
  readonly told: string[] = [];

  versions(): Versions {
    return NO_VERSIONS;
  }

  override expectCommit(changes: readonly CachedKind[]): void {
    this.told.push(`expect ${changes.join('+') || 'nothing'}`);
  }

  override confirmCommit(): void {
    this.told.push('confirm');
  }

  override withdraw(): void {
    this.told.push('withdraw');
  }
}

let dataSource: DataSource;
let transactions: Transactions;
let committed: ToldState;

beforeEach(async () => {
  dataSource = await openDataSource({ databaseUrl: 'sqlite::memory:' });
  onTestFinished(() => dataSource.destroy());
  ({ transactions } = dataSource as SqliteDataSource);
  committed = new ToldState();
  await dataSource.query('CREATE TABLE written (what TEXT NOT NULL)');
});

const insert = (what: string | null) =>
  `INSERT INTO written VALUES (${what === null ? 'NULL' : `'${what}'`})`;
const written = async () =>
  (await dataSource.query<{ what: string }[]>('SELECT what FROM written')).map(({ what }) => what);
describe('a commit that is declared', () => {
  it('is announced with what it changes, after the writes and before it is made, then confirmed and taken back', async () => {
    const answer = await commitChanging(
      { dataSource, dataVersion: committed, transactions },
      ['keys'],
      async (manager) => {
        await manager.query(insert('a'));
        committed.told.push('written');
        return 'done';
      },
    );
    expect([answer, await written(), committed.told]).toEqual([
      'done',
      ['a'],
      ['written', 'expect keys', 'confirm', 'withdraw'],
    ]);
  });

  it('is taken back before the rollback lets others write, when it cannot be made', async () => {
    const failing = commitChanging(
      { dataSource, dataVersion: committed, transactions },
      ['responses'],
      async (manager) => {
        await manager.query(insert('a'));
        const { queryRunner } = manager;
        if (!queryRunner) throw new Error('without a connection');
        queryRunner.commitTransaction = () => Promise.reject(new Error('disk full'));
        const rollback = queryRunner.rollbackTransaction.bind(queryRunner);
        queryRunner.rollbackTransaction = () => {
          committed.told.push('roll back');
          return rollback();
        };
      },
    );
    await expect(failing).rejects.toThrow('disk full');
    expect(committed.told.slice(0, 3)).toEqual(['expect responses', 'withdraw', 'roll back']);
    expect(await written()).toEqual([]);
  });

  it('tells why the writes failed, though rolling back fails as well', async () => {
    const failing = commitChanging(
      { dataSource, dataVersion: committed, transactions },
      [],
      async (manager) => {
        const { queryRunner } = manager;
        if (!queryRunner) throw new Error('without a connection');
        const rollback = queryRunner.rollbackTransaction.bind(queryRunner);
        queryRunner.rollbackTransaction = async () => {
          await rollback();
          throw new Error('gone');
        };
        throw new Error('the reason');
      },
    );
    await expect(failing).rejects.toThrow('the reason');
  });

  it('is no part of the transaction in which it is begun', async () => {
    let neutral: Promise<unknown> = Promise.resolve();
    const outer = dataSource.transaction(async (manager) => {
      await manager.query(insert('rolled back'));
      neutral = commitChanging({ dataSource, dataVersion: committed, transactions }, [], (own) =>
        own.query(insert('stays')),
      );
      throw new Error('no');
    });
    await expect(outer).rejects.toThrow('no');
    await neutral;
    expect(await written()).toEqual(['stays']);
  });
});

describe('cache-neutral writes', () => {
  const version = async () =>
    (await dataSource.query<{ user_version: number }[]>('PRAGMA user_version'))[0]?.user_version;

  it('change nothing that is cached, answer what the work answers, and always leave something to commit', async () => {
    const cacheNeutralWrites = new CacheNeutralWrites(dataSource, committed, transactions);
    expect(await cacheNeutralWrites.run(() => Promise.resolve('done'))).toBe('done');
    expect(committed.told).toEqual(['expect nothing', 'confirm', 'withdraw']);
    expect(await version()).toBe(1);
    await cacheNeutralWrites.run((manager) => manager.query(insert('a')));
    expect([await version(), await written()]).toEqual([2, ['a']]);
  });

  it('are taken part in by repositories, the DataSource and JSON reads, which see what was written', async () => {
    const count = 'SELECT count(*) AS n FROM written';
    const cacheNeutralWrites = new CacheNeutralWrites(dataSource, committed, transactions);
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

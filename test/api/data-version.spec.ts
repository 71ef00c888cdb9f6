import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CacheNeutralWrites } from '../../src/database/cache-neutral-writes.js';
import { openDataSource } from '../../src/database/data-source.js';
import { ALL_CACHED, type CachedKind, type DataVersion } from '../../src/database/data-version.js';
import { migrate } from '../../src/database/schema.js';
import type { SqliteDataSource } from '../../src/database/sqlite/sqlite-data-source.js';
import { WalDataVersion } from '../../src/database/sqlite/wal-data-version.js';
import { Pet } from '../../src/pets/pet.entity.js';
import { emptyFolder } from '../support/service-process.js';

const insert = (name: string) => `INSERT INTO pets (name, category_id, status) VALUES ('${name}', 1, 'sold')`;

const NOTHING: readonly CachedKind[] = [];

/** What can happen to a file that two connections have open, and what it changes for the first. */
const STEPS = {
  'we write': ALL_CACHED,
  'they write': ALL_CACHED,
  'we write in a transaction': ALL_CACHED,
  'we insert in a group': ['responses'],
  'they insert in a group': ALL_CACHED,
  'we write cacheNeutral': NOTHING,
  'we write cacheNeutral, and fail': NOTHING,
  'we write nothing cacheNeutral': NOTHING,
  'we roll back': NOTHING,
  'we read': NOTHING,
  'they write cacheNeutral': ALL_CACHED,
  'the log is checkpointed': NOTHING,
} as const;
type Step = keyof typeof STEPS;

async function twoConnections(): Promise<{ ours: DataSource; theirs: DataSource; file: string }> {
  const { path, remove } = await emptyFolder();
  const file = join(path, 'a.sqlite');
  const databaseUrl = `sqlite:${file}`;
  const [ours, theirs] = [await openDataSource({ databaseUrl }), await openDataSource({ databaseUrl })];
  onTestFinished(async () => {
    await ours.destroy();
    await theirs.destroy();
    await remove();
  });
  await migrate(ours);
  return { ours, theirs, file };
}

const current = (dataVersion: DataVersion) => ALL_CACHED.map((kind) => dataVersion.current(kind));

const cacheNeutralWrites = (dataSource: DataSource) =>
  new CacheNeutralWrites((dataSource as SqliteDataSource).transactions);

async function take(step: Step, ours: DataSource, theirs: DataSource): Promise<void> {
  const inGroup = (dataSource: DataSource) =>
    dataSource.getRepository(Pet).insert({ name: 'h', categoryId: 1n, status: 'sold' });
  const failing = (source: DataSource) =>
    source.transaction(async (manager) => {
      await manager.query(insert('gone'));
      throw new Error('rolled back');
    });
  if (step === 'we write') await ours.query(insert('a'));
  if (step === 'they write') await theirs.query(insert('b'));
  if (step === 'we write in a transaction') await ours.transaction((manager) => manager.query(insert('c')));
  if (step === 'we write cacheNeutral')
    await cacheNeutralWrites(ours).run((manager) => manager.query(insert('d')));
  if (step === 'we write nothing cacheNeutral')
    await cacheNeutralWrites(ours).run((manager) => manager.query(`UPDATE pets SET name = 'g' WHERE id < 0`));
  if (step === 'they write cacheNeutral')
    await cacheNeutralWrites(theirs).run((manager) => manager.query(insert('e')));
  if (step === 'we insert in a group') await inGroup(ours);
  if (step === 'they insert in a group') await inGroup(theirs);
  if (step === 'we roll back') await failing(ours).catch(() => undefined);
  if (step === 'we read') await ours.query('SELECT COUNT(*) FROM pets');
  if (step === 'the log is checkpointed') await theirs.query('PRAGMA wal_checkpoint(PASSIVE)');
  if (step === 'we write cacheNeutral, and fail') {
    await cacheNeutralWrites(ours)
      .run(async (manager) => {
        await manager.query(insert('f'));
        throw new Error('rolled back');
      })
      .catch(() => undefined);
  }
}

describe('the state of an SQLite file', () => {
  it('changes with every commit of anybody, and with none of ours that is known to change nothing', async () => {
    const { ours, theirs } = await twoConnections();
    const { dataVersion } = ours as SqliteDataSource;
    await cacheNeutralWrites(ours).run(() => Promise.resolve());
    let last = current(dataVersion);
    const walks = fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...(Object.keys(STEPS) as Step[])), { maxLength: 30 }),
        async (steps) => {
          for (const step of steps) {
            await take(step, ours, theirs);
            const now = current(dataVersion);
            const changed = ALL_CACHED.filter((_, index) => now[index] !== last[index]);
            // To take nothing for a change is to be fast; to take a change for nothing would be to be wrong.
            if (step !== 'the log is checkpointed') expect([step, changed]).toEqual([step, STEPS[step]]);
            last = now;
          }
        },
      ),
      { numRuns: 25 },
    );
    await expect(walks).resolves.toBeUndefined();
  });

  it('is never told by an index that stands still while we commit', async () => {
    const { ours } = await twoConnections();
    const { ours: others, file } = await twoConnections();
    const { dataVersion } = ours as SqliteDataSource;
    await cacheNeutralWrites(ours).run(() => Promise.resolve());
    (dataVersion as WalDataVersion).watch(`${file}-shm`);
    const commit = () => cacheNeutralWrites(ours).run(() => Promise.resolve());
    await commit();
    await others.query(insert('a'));
    await commit();
    expect(current(dataVersion)).toEqual([undefined, undefined, undefined]);
  });

  it('is told once the index can be opened, whatever was in the way', async () => {
    const { ours, theirs, file } = await twoConnections();
    await cacheNeutralWrites(ours).run(() => Promise.resolve());
    const descriptors: number[] = [];
    onTestFinished(() => descriptors.forEach(closeSync));
    // Real exhaustion: as many as the process may have.
    const version = new WalDataVersion((ours as SqliteDataSource).files);
    try {
      for (;;) descriptors.push(openSync('/dev/null', 'r'));
    } catch (error) {
      expect(error).toMatchObject({ code: 'EMFILE' });
    }
    version.watch(`${file}-shm`);
    expect(version.current('responses')).toBeUndefined();
    descriptors.splice(0).forEach(closeSync);
    await version.committing([], () => cacheNeutralWrites(ours).run(() => Promise.resolve()));
    const before = version.current('responses');
    expect(before).toEqual(expect.any(Number));
    await theirs.query(insert('b'));
    expect(version.current('responses')).not.toBe(before);
  });
});

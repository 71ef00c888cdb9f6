import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { QuietWrites } from '../src/database/cache-neutral-writes.js';
import { openDataSource } from '../src/database/data-source.js';
import { ALL_REMEMBERED, type CommittedState, type RememberedKind } from '../src/database/data-version.js';
import { GroupedInserts } from '../src/database/grouped-inserts.js';
import { migrate } from '../src/database/schema.js';
import { DatabaseFiles } from '../src/database/sqlite/database-files.js';
import type { SqliteDataSource } from '../src/database/sqlite/sqlite-data-source.js';
import { WalIndex, WalIndexState } from '../src/database/sqlite/wal-data-version.js';
import { Pet } from '../src/pets/pet.entity.js';
import { emptyFolder } from './support/service-process.js';

const insert = (name: string) => `INSERT INTO pets (name, category_id, status) VALUES ('${name}', 1, 'sold')`;

const NOTHING: readonly RememberedKind[] = [];

/** What can happen to a file that two connections have open, and what it changes for the first. */
const STEPS = {
  'we write': ALL_REMEMBERED,
  'they write': ALL_REMEMBERED,
  'we write in a transaction': ALL_REMEMBERED,
  'we insert in a group': ['answers'],
  'they insert in a group': ALL_REMEMBERED,
  'we write quietly': NOTHING,
  'we write quietly, and fail': NOTHING,
  'we write nothing quietly': NOTHING,
  'we roll back': NOTHING,
  'we read': NOTHING,
  'they write quietly': ALL_REMEMBERED,
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

const current = (committed: CommittedState) =>
  ALL_REMEMBERED.map((remembered) => committed.current(remembered));

const partsOf = (dataSource: DataSource) => {
  const { committed, transactions } = dataSource as SqliteDataSource;
  return [dataSource, committed, transactions] as const;
};
const quietly = (dataSource: DataSource) => new QuietWrites(...partsOf(dataSource));

async function take(step: Step, ours: DataSource, theirs: DataSource): Promise<void> {
  const inGroup = (dataSource: DataSource) =>
    new GroupedInserts(...partsOf(dataSource)).insert(
      Pet,
      Object.assign(new Pet(), { name: 'h', categoryId: 1n, status: 'sold' }),
    );
  const failing = (source: DataSource) =>
    source.transaction(async (manager) => {
      await manager.query(insert('gone'));
      throw new Error('rolled back');
    });
  if (step === 'we write') await ours.query(insert('a'));
  if (step === 'they write') await theirs.query(insert('b'));
  if (step === 'we write in a transaction') await ours.transaction((manager) => manager.query(insert('c')));
  if (step === 'we write quietly') await quietly(ours).run((manager) => manager.query(insert('d')));
  if (step === 'we write nothing quietly')
    await quietly(ours).run((manager) => manager.query(`UPDATE pets SET name = 'g' WHERE id < 0`));
  if (step === 'they write quietly') await quietly(theirs).run((manager) => manager.query(insert('e')));
  if (step === 'we insert in a group') await inGroup(ours);
  if (step === 'they insert in a group') await inGroup(theirs);
  if (step === 'we roll back') await failing(ours).catch(() => undefined);
  if (step === 'we read') await ours.query('SELECT COUNT(*) FROM pets');
  if (step === 'the log is checkpointed') await theirs.query('PRAGMA wal_checkpoint(PASSIVE)');
  if (step === 'we write quietly, and fail') {
    await quietly(ours)
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
    const { committed } = ours as SqliteDataSource;
    await quietly(ours).run(() => Promise.resolve());
    let last = current(committed);
    const walks = fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...(Object.keys(STEPS) as Step[])), { maxLength: 30 }),
        async (steps) => {
          for (const step of steps) {
            await take(step, ours, theirs);
            const now = current(committed);
            const changed = ALL_REMEMBERED.filter((_, index) => now[index] !== last[index]);
            // To take nothing for a change is to be fast; to take a change for nothing would be to be wrong.
            if (step !== 'the log is checkpointed') expect([step, changed]).toEqual([step, STEPS[step]]);
            last = now;
          }
        },
      ),
      { numRuns: 60 },
    );
    await expect(walks).resolves.toBeUndefined();
  });

  it('is not told before a commit of ours has shown it', async () => {
    const { ours } = await twoConnections();
    const { committed } = ours as SqliteDataSource;
    await ours.query(insert('a'));
    expect(current(committed)).toEqual([undefined, undefined]);
    await quietly(ours).run(() => Promise.resolve());
    expect(current(committed)).toEqual([expect.any(Number), expect.any(Number)]);
  });

  it('is never told by an index that stands still while we commit', async () => {
    const { ours } = await twoConnections();
    const { ours: others, file } = await twoConnections();
    const { committed, transactions } = ours as SqliteDataSource;
    await quietly(ours).run(() => Promise.resolve());
    (committed as WalIndexState).watch(new WalIndex(`${file}-shm`));
    const commit = () => new QuietWrites(ours, committed, transactions).run(() => Promise.resolve());
    await commit();
    await others.query(insert('a'));
    await commit();
    expect(current(committed)).toEqual([undefined, undefined]);
  });

  it('is told once the index can be opened, whatever was in the way', async () => {
    const { ours, theirs, file } = await twoConnections();
    await quietly(ours).run(() => Promise.resolve());
    const descriptors: number[] = [];
    onTestFinished(() => descriptors.forEach(closeSync));
    // Real exhaustion: as many as the process may have.
    const state = new WalIndexState((ours as SqliteDataSource).files);
    try {
      for (;;) descriptors.push(openSync('/dev/null', 'r'));
    } catch (error) {
      expect(error).toMatchObject({ code: 'EMFILE' });
    }
    state.watch(new WalIndex(`${file}-shm`));
    expect(state.current('answers')).toBeUndefined();
    descriptors.splice(0).forEach(closeSync);
    const writes = new QuietWrites(ours, state, (ours as SqliteDataSource).transactions);
    await writes.run(() => Promise.resolve());
    const before = state.current('answers');
    expect(before).toEqual(expect.any(Number));
    await theirs.query(insert('b'));
    expect(state.current('answers')).not.toBe(before);
  });

  it('cannot be told without a write-ahead log', async () => {
    const state = new WalIndexState(new DatabaseFiles());
    expect(current(state)).toEqual([undefined, undefined]);
    state.expectCommit([]);
    state.confirmCommit();
    state.withdraw();
    expect(current(state)).toEqual([undefined, undefined]);
  });
});

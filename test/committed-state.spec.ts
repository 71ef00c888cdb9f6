import { join } from 'node:path';
import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ALL_REMEMBERED, type RememberedKind } from '../src/database/committed-state.js';
import { openDataSource } from '../src/database/data-source.js';
import { GroupedInserts } from '../src/database/grouped-inserts.js';
import { QuietWrites } from '../src/database/quiet-writes.js';
import { migrate } from '../src/database/schema.js';
import type { SqliteDataSource } from '../src/database/sqlite/sqlite-data-source.js';
import { WalIndexState } from '../src/database/sqlite/wal-index-state.js';
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

async function take(step: Step, ours: DataSource, theirs: DataSource): Promise<void> {
  const partsOf = (dataSource: DataSource) => {
    const { committed, transactions } = dataSource as SqliteDataSource;
    return [dataSource, committed, transactions] as const;
  };
  const quietly = (dataSource: DataSource) => new QuietWrites(...partsOf(dataSource));
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
    const { path, remove } = await emptyFolder();
    onTestFinished(remove);
    const databaseUrl = `sqlite:${join(path, 'a.sqlite')}`;
    const [ours, theirs] = [await openDataSource({ databaseUrl }), await openDataSource({ databaseUrl })];
    await migrate(ours);
    const { committed } = ours as SqliteDataSource;
    const current = () => ALL_REMEMBERED.map((remembered) => committed.current(remembered));
    let last = current();
    const walks = fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...(Object.keys(STEPS) as Step[])), { maxLength: 30 }),
        async (steps) => {
          for (const step of steps) {
            await take(step, ours, theirs);
            const now = current();
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
    await ours.destroy();
    await theirs.destroy();
  });

  it('cannot be told without a write-ahead log', async () => {
    const { path, remove } = await emptyFolder();
    onTestFinished(remove);
    const state = new WalIndexState(join(path, 'none.sqlite'));
    expect([state.current('answers'), state.current('keys')]).toEqual([undefined, undefined]);
    state.expectCommit([]);
    state.withdraw();
    expect(state.current('answers')).toBeUndefined();
  });
});

import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDataSource } from '../src/database/data-source.js';
import { GroupedInserts } from '../src/database/grouped-inserts.js';
import { migrate } from '../src/database/schema.js';
import type { SqliteDataSource } from '../src/database/sqlite/sqlite-data-source.js';
import { Pet } from '../src/pets/pet.entity.js';
import { emptyFolder } from './support/service-process.js';

async function open() {
  const { path, remove } = await emptyFolder();
  const dataSource = await openDataSource({ databaseUrl: `sqlite:${join(path, 'a.sqlite')}` });
  onTestFinished(async () => {
    await dataSource.destroy();
    await remove();
  });
  await migrate(dataSource);
  const { dataVersion, transactions } = dataSource as SqliteDataSource;
  return { dataSource, inserts: new GroupedInserts(dataSource, dataVersion, transactions) };
}

/** A row that the table takes, one that its CHECK refuses, or one that brings its id. */
const row = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ status: 'sold' as const }) },
  { weight: 1, arbitrary: fc.constant({ status: 'lost' as never }) },
  { weight: 1, arbitrary: fc.bigInt(1n, 2n ** 62n).map((id) => ({ status: 'sold' as const, id })) },
);

function pet(name: string, fields: Partial<Pet>): Pet {
  return Object.assign(new Pet(), { name, categoryId: 1n, ...fields });
}

describe('rows inserted at the same time', () => {
  it('get their own ids, and each succeeds or fails by itself, in whatever company', async () => {
    const { dataSource, inserts } = await open();
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 40 }), async (rows) => {
        await dataSource.getRepository(Pet).clear();
        const pets = rows.map((fields, index) => pet(`Animal ${index}`, fields));
        const outcomes = await Promise.allSettled(pets.map((one) => inserts.insert(Pet, one)));
        const chosen = rows.flatMap((one) => ('id' in one ? [one.id] : []));
        fc.pre(new Set(chosen).size === chosen.length);
        expect(outcomes.map(({ status }) => status)).toEqual(
          rows.map((one) => (one.status === 'sold' ? 'fulfilled' : 'rejected')),
        );
        const kept = pets.filter((_, index) => outcomes[index]?.status === 'fulfilled');
        const byId = new Map(
          (await dataSource.getRepository(Pet).find()).map((found) => [String(found.id), found.name]),
        );
        expect(byId.size).toBe(kept.length);
        for (const { id, name } of kept) expect([id, byId.get(String(id))]).toEqual([id, name]);
      }),
      { numRuns: 60 },
    );
  });

  it('are committed together: a thousand of them in a handful of transactions', async () => {
    const { dataSource, inserts } = await open();
    const { dataVersion } = dataSource as SqliteDataSource;
    // The state is told from the first commit on.
    await inserts.insert(Pet, pet('First', { status: 'sold' }));
    const before = dataVersion.current('responses') ?? Number.NaN;
    const pets = Array.from({ length: 1_000 }, (_, index) => pet(`Animal ${index}`, { status: 'sold' }));
    // A commit is seen when it is looked for, so the state is asked after each row.
    const states = await Promise.all(
      pets.map(async (one) => {
        await inserts.insert(Pet, one);
        return dataVersion.current('responses');
      }),
    );
    expect((states.at(-1) ?? Number.NaN) - before).toBeLessThanOrEqual(4);
    expect(await dataSource.getRepository(Pet).count()).toBe(1_001);
  });
});

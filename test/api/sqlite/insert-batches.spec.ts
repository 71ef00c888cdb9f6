import { DataSource } from 'typeorm';
import { expect, it } from 'vitest';
import { Pet } from '../../support/pets/pet.entity.js';
import type { Database } from '../../../src/database/database.js';
import { InsertBatches } from '../../../src/database/insert-batches.js';
import { unavailable } from '../../../src/database/unavailable.js';
import { openForTest } from '../../support/opened.js';

it('of rows that are inserted one by one, each waits no longer than the first for a busy database', async () => {
  const service = await openForTest();
  const database = service.app.get<Database>(DataSource);
  let tries = 0;
  const commitChanging = (): Promise<never> => {
    tries += 1;
    throw tries === 1
      ? new Error('one of them is wrong')
      : unavailable('the database is busy', undefined, true);
  };
  const transactions = { isInside: () => false, commitChanging };
  const batches = new InsertBatches(
    Object.create(database, { transactions: { value: transactions } }) as Database,
  );
  const row = () => ({ name: 'Rex', categoryId: 1n, status: 'sold' });
  const settled = await Promise.allSettled([1, 2, 3].map(async () => batches.insert(Pet, row())));
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(tries).toBe(2);
});

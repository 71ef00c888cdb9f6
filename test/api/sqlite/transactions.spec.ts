import { DataSource } from 'typeorm';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { Pet } from '../../support/pets/pet.entity.js';
import { gate } from '../../support/gate.js';
import { openForAll } from '../../support/opened.js';

const service = await openForAll();
const dataSource = service.app.get(DataSource);
beforeEach(() => dataSource.getRepository(Pet).clear());

const pet = (name: string) => ({ name, categoryId: 1n, status: 'sold' as const });
const namesNow = async () => (await dataSource.getRepository(Pet).find()).map(({ name }) => name).toSorted();

// What holds on both databases is in test/postgres/transactions.
describe('transactions on SQLite', () => {
  it('nobody else sees a row before its commit', async () => {
    let seen: string[] | undefined;
    const inserted = gate();
    const read = gate();
    const writing = dataSource.transaction(async (manager) => {
      await manager.insert(Pet, pet('new'));
      inserted.open();
      await read.opened;
      expect(seen).toBeUndefined();
      expect(await namesNow()).toEqual(['new']);
    });
    await inserted.opened;
    const reading = namesNow().then((names) => void (seen = names));
    await new Promise(setImmediate);
    read.open();
    await Promise.all([writing, reading]);
    expect(seen).toEqual(['new']);
  });

  it.each(['UNIQUE ON CONFLICT ROLLBACK', 'UNIQUE'])(
    'one in which a %s was violated commits all that follows, or nothing',
    async (unique) => {
      await dataSource.query(`CREATE TABLE shelves (name TEXT ${unique})`);
      onTestFinished(() => dataSource.query('DROP TABLE shelves'));
      await dataSource.query(`INSERT INTO shelves VALUES ('top')`);
      const isDone = await dataSource
        .transaction(async (manager) => {
          await manager.insert(Pet, pet('before'));
          await manager.query(`INSERT INTO shelves VALUES ('top')`).catch(() => undefined);
          await manager.insert(Pet, pet('behind'));
        })
        .then(
          () => true,
          () => false,
        );
      expect([isDone, await namesNow()]).toEqual(
        unique === 'UNIQUE' ? [true, ['before', 'behind']] : [false, []],
      );
    },
  );

  it('syncs the log at every commit', async () => {
    expect(await dataSource.query('PRAGMA synchronous')).toEqual([{ synchronous: 2 }]);
    expect(await dataSource.query('PRAGMA foreign_keys')).toEqual([{ foreign_keys: 1 }]);
  });
});

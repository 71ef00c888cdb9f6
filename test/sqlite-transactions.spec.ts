import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { DataSource } from 'typeorm';
import { Pet } from '../src/pets/pet.entity.js';
import { Store } from './support/store.js';

const stores: Store[] = [];
let dataSource: DataSource;
beforeEach(async () => {
  const store = await Store.open();
  stores.push(store);
  dataSource = store.app.get(DataSource);
});
afterAll(() => Promise.all(stores.map((store) => store.close())));

const pet = (name: string) => ({ name, categoryId: 1n, status: 'sold' as const });
const namesNow = async () => (await dataSource.getRepository(Pet).find()).map(({ name }) => name).toSorted();

describe('transactions on SQLite', () => {
  it('a rollback takes nobody else’s write along', async () => {
    const failing = dataSource.transaction(async (manager) => {
      await manager.insert(Pet, pet('undone'));
      await new Promise(setImmediate);
      throw new Error('undo');
    });
    const beside = dataSource.getRepository(Pet).insert(pet('kept'));
    await expect(failing).rejects.toThrow('undo');
    await beside;
    expect(await namesNow()).toEqual(['kept']);
  });

  it('nobody sees a row before its commit', async () => {
    let seen: string[] | undefined;
    let reading: Promise<void> | undefined;
    await dataSource.transaction(async (manager) => {
      await manager.insert(Pet, pet('new'));
      reading = namesNow().then((names) => void (seen = names));
      await new Promise(setImmediate);
      expect(seen).toBeUndefined();
    });
    await reading;
    expect(seen).toEqual(['new']);
  });

  it('many overlap, each whole or not at all', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        dataSource.transaction(async (manager) => {
          await manager.insert(Pet, pet(`${index} a`));
          if (index % 3 === 0) throw new Error('undo');
          await manager.insert(Pet, pet(`${index} b`));
        }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(7);
    expect(await namesNow()).toHaveLength(13 * 2);
  });

  it('save() beside save() beside insert() keeps all', async () => {
    const pets = dataSource.getRepository(Pet);
    await Promise.all(
      Array.from({ length: 15 }, (_, index) =>
        index % 2 ? pets.save(pets.create(pet(`${index}`))) : pets.insert(pet(`${index}`)),
      ),
    );
    expect(await namesNow()).toHaveLength(15);
  });

  it('a nested transaction is undone alone', async () => {
    await dataSource.transaction(async (manager) => {
      await manager.insert(Pet, pet('outer'));
      await manager
        .transaction(async (inner) => {
          await inner.insert(Pet, pet('inner'));
          throw new Error('undo');
        })
        .catch(() => undefined);
    });
    expect(await namesNow()).toEqual(['outer']);
  });

  it('a transaction left open by a released runner is rolled back', async () => {
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.manager.insert(Pet, pet('forgotten'));
    await runner.release();
    expect(await namesNow()).toEqual([]);
  });

  it('syncs the log at every commit', async () => {
    expect(await dataSource.query('PRAGMA synchronous')).toEqual([{ synchronous: 2 }]);
    expect(await dataSource.query('PRAGMA foreign_keys')).toEqual([{ foreign_keys: 1 }]);
  });
});

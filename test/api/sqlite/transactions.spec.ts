import fc from 'fast-check';
import {
  BeforeInsert,
  Column,
  DataSource,
  Entity,
  type EntityManager,
  PrimaryGeneratedColumn,
} from 'typeorm';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { SqliteDataSource } from '../../../src/database/sqlite/sqlite-data-source.js';
import { Pet } from '../../../src/pets/pet.entity.js';
import { gate } from '../../support/gate.js';
import { openForAll } from '../../support/opened.js';

const service = await openForAll();
const dataSource = service.app.get(DataSource);
beforeEach(() => dataSource.getRepository(Pet).clear());

const pet = (name: string) => ({ name, categoryId: 1n, status: 'sold' as const });
const namesNow = async () => (await dataSource.getRepository(Pet).find()).map(({ name }) => name).toSorted();

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

  it('a transaction left open by a released runner is rolled back', async () => {
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.manager.insert(Pet, pet('forgotten'));
    await runner.release();
    expect(await namesNow()).toEqual([]);
  });

  it('are taken part in by subscribers that use repositories', async () => {
    const pets = dataSource.getRepository(Pet);
    const counted: number[] = [];
    dataSource.subscribers.push({
      listenTo: () => Pet,
      afterInsert: async () => void counted.push(await pets.count()),
      beforeRemove: async () => void counted.push(await pets.count()),
    });
    onTestFinished(() => void dataSource.subscribers.pop());
    const a = await pets.save(pets.create(pet('a')));
    await dataSource.transaction(async (manager) => {
      await manager.save(Pet, pet('b'));
      await Promise.all([pets.save(pets.create(pet('c'))), manager.transaction(() => pets.remove(a))]);
    });
    expect(counted).toEqual([1, 2, 3, 3]);
    expect(await namesNow()).toEqual(['b', 'c']);
  });

  it('are taken part in by listeners of entities that use repositories', async () => {
    @Entity()
    class Diary {
      @PrimaryGeneratedColumn()
      id!: number;

      @Column('integer')
      before!: number;

      @BeforeInsert()
      async count(): Promise<void> {
        this.before = await own.getRepository(Diary).count();
      }
    }
    const own = new SqliteDataSource({
      type: 'sqlite',
      database: ':memory:',
      entities: [Diary],
      synchronize: true,
    });
    await own.initialize();
    onTestFinished(() => own.destroy());
    const diaries = own.getRepository(Diary);
    const [first, second] = [await diaries.save(diaries.create()), await diaries.save(diaries.create())];
    expect([first.before, second.before]).toEqual([0, 1]);
  });

  it('syncs the log at every commit', async () => {
    expect(await dataSource.query('PRAGMA synchronous')).toEqual([{ synchronous: 2 }]);
    expect(await dataSource.query('PRAGMA foreign_keys')).toEqual([{ foreign_keys: 1 }]);
  });
});

/** What a piece of work does: it adds an animal, or does others in a transaction, one by one or side by side. */
type Work =
  | { readonly adds: 'insert' | 'save' | 'query' | 'manager' }
  | { readonly fails: boolean; readonly sideBySide: boolean; readonly of: readonly Work[] };

const { work } = fc.letrec<{ work: Work; add: Work; transaction: Work }>((tie) => ({
  work: fc.oneof({ depthSize: 'small', withCrossShrink: true }, tie('add'), tie('transaction')),
  add: fc.record({ adds: fc.constantFrom('insert', 'save', 'query', 'manager') }),
  transaction: fc.record({
    fails: fc.boolean(),
    sideBySide: fc.boolean(),
    of: fc.array(tie('work'), { maxLength: 4 }),
  }),
}));

/** Does the work within `name`, with the manager that it was handed or past it; answers what it leaves behind. */
async function perform(piece: Work, name: string, manager: EntityManager): Promise<string[]> {
  const row = pet(name);
  const pets = dataSource.getRepository(Pet);
  if ('adds' in piece) {
    if (piece.adds === 'insert') await pets.insert(row);
    if (piece.adds === 'save') await pets.save(pets.create(row));
    if (piece.adds === 'query')
      await dataSource.query('INSERT INTO pets (name, category_id, status) VALUES (?, 1, ?)', [name, 'sold']);
    if (piece.adds === 'manager') await manager.insert(Pet, row);
    return [name];
  }
  const left: string[] = [];
  const all = async (inner: EntityManager): Promise<void> => {
    const jobs = piece.of.map((one, index) => async () => {
      // Half of them use the manager of the transaction around.
      left.push(...(await perform(one, `${name}.${index}`, index % 2 ? inner : manager)));
    });
    if (piece.sideBySide) await Promise.all(jobs.map((job) => job()));
    else for (const job of jobs) await job();
    expect(await namesNow()).toEqual(expect.arrayContaining(left));
    if (piece.fails) throw new Error('undo');
  };
  const isDone = await manager.transaction(all).then(
    () => true,
    (error: Error) => {
      expect(error.message).toBe('undo');
      return false;
    },
  );
  return isDone ? left : [];
}

describe('work in transactions, and in transactions within them', () => {
  it('leaves behind what is in none that failed, whatever it uses and in whatever company', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(work, { minLength: 1, maxLength: 4 }), async (company) => {
        await dataSource.getRepository(Pet).clear();
        const left = await Promise.all(
          company.map((piece, index) => perform(piece, `${index}`, dataSource.manager)),
        );
        expect(await namesNow()).toEqual(left.flat().toSorted());
      }),
      { numRuns: 50 },
    );
  });
});

describe('work that outlives its transaction', () => {
  it('does not write with its manager any more', async () => {
    const managers: EntityManager[] = [];
    await dataSource.transaction(async (manager) => void managers.push(manager));
    await expect(managers[0]?.insert(Pet, pet('late'))).rejects.toThrow(/released/);
  });

  it('is waited for where it is a transaction within', async () => {
    let within: Promise<unknown> | undefined;
    await dataSource.transaction(async () => {
      within = dataSource.transaction(async (manager) => {
        await manager.insert(Pet, pet('first'));
        await new Promise(setImmediate);
        await dataSource.getRepository(Pet).insert(pet('second'));
      });
      await new Promise(setImmediate);
    });
    await within;
    expect(await namesNow()).toEqual(['first', 'second']);
  });

  it('goes no further in a transaction within one that was rolled back', async () => {
    const failed = gate();
    let within: Promise<unknown> | undefined;
    const outer = dataSource.transaction(async () => {
      const begun = gate();
      within = dataSource.transaction(async (manager) => {
        await manager.insert(Pet, pet('first'));
        begun.open();
        await failed.opened;
        await dataSource.getRepository(Pet).insert(pet('second'));
      });
      within.catch(() => undefined);
      await begun.opened;
      throw new Error('undo');
    });
    await expect(outer).rejects.toThrow('undo');
    failed.open();
    await expect(within).rejects.toThrow(/has already ended/);
    await dataSource.getRepository(Pet).insert(pet('next'));
    expect(await namesNow()).toEqual(['next']);
  });
});

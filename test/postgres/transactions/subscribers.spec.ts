import { AsyncLocalStorage } from 'node:async_hooks';
import {
  AfterInsert,
  BeforeInsert,
  BeforeRemove,
  Column,
  Entity,
  type EntityManager,
  type EntitySubscriberInterface,
  PrimaryGeneratedColumn,
  type TransactionStartEvent,
} from 'typeorm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { gate } from '../../support/gate.js';
import { addedTable } from '../../support/added-table.js';
import { Stall, Toy, openMarket, undo, TIMELY } from '../../support/market.js';

/** What the listeners of a shelf do; a team's entity would reach its repository by a static one, as Active Record does. */
const listening: Record<'inserting' | 'inserted' | 'removing', () => unknown> = {
  inserting: () => undefined,
  inserted: () => undefined,
  removing: () => undefined,
};

@Entity('shelves')
class Shelf {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ default: 0 })
  before!: number;

  @BeforeInsert()
  async inserting(): Promise<void> {
    this.before = Number((await listening.inserting()) ?? 0);
  }

  @AfterInsert()
  async inserted(): Promise<void> {
    await listening.inserted();
  }

  @BeforeRemove()
  async removing(): Promise<void> {
    await listening.removing();
  }
}

const { dataSource, toys, stalls, frames, transactions, add, names } = await openMarket([addedTable(Shelf)]);
const shelves = dataSource.getRepository(Shelf);

/** Adds a subscriber as the documentation of Nest does, until the test ends. Returns what removes it earlier. */
function subscribe(subscriber: EntitySubscriberInterface): () => void {
  const { subscribers } = dataSource;
  subscribers.push(subscriber);
  const remove = () =>
    void (subscribers.includes(subscriber) && subscribers.splice(subscribers.indexOf(subscriber), 1));
  onTestFinished(remove);
  return remove;
}

const ofTest = new AsyncLocalStorage<boolean>();

/** Adds a subscriber of the transactions that the test starts: those of jobs and webhooks are left out. */
function subscribeHere(
  handlers: Partial<Record<keyof EntitySubscriberInterface, (event: TransactionStartEvent) => unknown>>,
): () => void {
  ofTest.enterWith(true);
  const received = Object.entries(handlers).map(([name, handler]) => [
    name,
    (event: TransactionStartEvent) => (ofTest.getStore() ? handler(event) : undefined),
  ]);
  return subscribe(Object.fromEntries(received) as EntitySubscriberInterface);
}

/** The ways in which a row is saved; a subscriber of toys hears of each. */
const SAVING: readonly (readonly [name: string, save: (name: string) => Promise<unknown>])[] = [
  ['save() of a repository', (name) => toys.save(toys.create({ name }))],
  ['save() of dataSource.manager', (name) => dataSource.manager.save(Toy, { name })],
  ['insert() of a repository', (name) => toys.insert({ name })],
  ['insert() of dataSource.manager', (name) => dataSource.manager.insert(Toy, { name })],
  ['an insert by a query builder', (name) => toys.createQueryBuilder().insert().values({ name }).execute()],
];

describe.each(SAVING)('a subscriber of rows by %s', TIMELY, (_, save) => {
  it('that uses a repository takes part, in no transaction of the caller', async () => {
    const seen: number[] = [];
    subscribe({
      listenTo: () => Toy,
      afterInsert: async ({ entity }: { entity: Partial<Toy> }) => {
        seen.push(await toys.count());
        await stalls.insert({ name: `of ${entity.name}` });
      },
    });
    await save('a');
    await save('b');
    expect([seen, await stalls.count()]).toEqual([[1, 2], 2]);
  });

  it.each(frames)('that uses a repository takes part in %s, and is undone with it', async (_name, run) => {
    const seen: number[] = [];
    subscribe({
      listenTo: () => Toy,
      beforeInsert: async () => void seen.push(await toys.count()),
      afterInsert: async ({ manager, entity }: { manager: EntityManager; entity: Partial<Toy> }) => {
        seen.push(await manager.count(Toy));
        await stalls.insert({ name: `repository ${entity.name}` });
        await manager.insert(Stall, { name: `manager ${entity.name}` });
        await dataSource.transaction(() => stalls.save(stalls.create({ name: `nested ${entity.name}` })));
      },
    });
    const work = async () => {
      await save('a');
      await save('b');
    };
    await expect(run(() => work().then(undo))).rejects.toThrow('undo');
    expect([seen, await names(), await stalls.count()]).toEqual([[0, 1, 1, 2], [], 0]);
    await run(work);
    expect([await names(), await stalls.count()]).toEqual([['a', 'b'], 6]);
  });

  it.each(frames)('that throws undoes its row, and %s goes on', async (_name, run) => {
    subscribe({
      listenTo: () => Toy,
      afterInsert: async ({ entity }: { entity: Partial<Toy> }) => {
        if (entity.name === 'x') await Promise.reject(new Error('not this one'));
      },
    });
    await run(async () => {
      await save('a');
      // TypeORM undoes what save() has started; an INSERT alone is left to the caller.
      await dataSource
        .transaction(() => expect(save('x')).rejects.toThrow('not this one').then(undo))
        .catch(() => undefined);
      await save('b');
    });
    expect(await names()).toEqual(['a', 'b']);
  });
});

describe.each(frames)('save() in %s', TIMELY, (_, run) => {
  it.each([
    ['with a subscriber', true],
    ['without one', false],
  ])('%s does the same by repository and manager, side by side', async (_name, handlers) => {
    const received: number[] = [];
    if (handlers)
      subscribe({ listenTo: () => Toy, afterInsert: async () => void received.push(await toys.count()) });
    await run((): Promise<unknown> =>
      Promise.all([
        toys.save(toys.create({ name: 'a' })),
        dataSource.manager.save(Toy, { name: 'b' }),
        toys.save([toys.create({ name: 'c' }), toys.create({ name: 'd' })]),
        dataSource.transaction((manager) => manager.save(Toy, { name: 'e' })),
        dataSource.transaction((manager) => manager.getRepository(Toy).save({ name: 'f' })),
      ]),
    );
    expect(await names()).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    expect(received).toHaveLength(handlers ? 6 : 0);
  });

  it('that fails by its last row leaves none of its rows, by repository and manager, side by side', async () => {
    await add('taken');
    const rows = (name: string) => [{ name }, { name: 'taken' }];
    await run(async () => {
      const ends = await Promise.allSettled([
        toys.save(toys.create(rows('x'))),
        toys.save(toys.create({ name: 'a' })),
        dataSource.manager.save(Toy, rows('y')),
        dataSource.manager.save(Toy, { name: 'b' }),
        dataSource.transaction((manager) => manager.save(Toy, rows('z'))),
      ]);
      expect(ends.map(({ status }) => status === 'fulfilled')).toEqual([false, true, false, true, false]);
    });
    expect(await names()).toEqual(['a', 'b', 'taken']);
  });
});

describe('save(), remove(), softRemove() and recover() in no transaction', TIMELY, () => {
  it.each([
    ['with a subscriber', true],
    ['without one', false],
  ])('%s are done wholly or not at all', async (_, handlers) => {
    if (handlers) subscribe({ listenTo: () => Toy, afterInsert: async () => void (await toys.count()) });
    await add('taken');
    const stall = await stalls.save(stalls.create({ name: 'north' }));
    await toys.save(toys.create({ name: 'kept', stall }));
    const other = await stalls.save(stalls.create({ name: 'south' }));
    await expect(toys.save(toys.create([{ name: 'x' }, { name: 'taken' }]))).rejects.toThrow(/unique/i);
    await expect(dataSource.manager.save(Toy, [{ name: 'y' }, { name: 'taken' }])).rejects.toThrow(/unique/i);
    await expect(stalls.remove([other, stall])).rejects.toThrow(/foreign key/i);
    expect([await names(), await stalls.count()]).toEqual([['kept', 'taken'], 2]);
    await toys.softRemove(await toys.find());
    expect(await names()).toEqual([]);
    await toys.recover(await toys.find({ withDeleted: true }));
    expect(await names()).toEqual(['kept', 'taken']);
  });

  it('side by side are committed each by itself', async () => {
    subscribe({ listenTo: () => Toy, afterInsert: async () => void (await toys.count()) });
    const ends = await Promise.allSettled(
      Array.from({ length: 10 }, (_one, at) =>
        toys.save(toys.create([{ name: `${at}` }, { name: at === 4 ? '4' : `${at} too` }])),
      ),
    );
    expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(await names()).toHaveLength(18);
  });

  it('in a subscriber of another row take part', async () => {
    subscribe({
      listenTo: () => Toy,
      afterInsert: async ({ entity }: { entity: Partial<Toy> }) => {
        await stalls.save(stalls.create({ name: `of ${entity.name}` }));
        if (entity.name === 'x') undo();
      },
    });
    await toys.save(toys.create({ name: 'a' }));
    await expect(toys.save(toys.create({ name: 'x' }))).rejects.toThrow('undo');
    expect([await names(), (await stalls.find()).map(({ name }) => name)]).toEqual([['a'], ['of a']]);
  });

  it('with the option `transaction: false` start none', async () => {
    const received: string[] = [];
    subscribeHere({ beforeTransactionStart: () => void received.push('start') });
    await toys.save(toys.create({ name: 'a' }), { transaction: false, listeners: false });
    expect([received, await names()]).toEqual([[], ['a']]);
  });

  it('in chunks are done wholly or not at all', async () => {
    await add('taken');
    const rows = Array.from({ length: 25 }, (_one, at) =>
      toys.create({ name: at === 24 ? 'taken' : `${at}` }),
    );
    await expect(toys.save(rows, { chunk: 5 })).rejects.toThrow(/unique/i);
    expect(await names()).toEqual(['taken']);
    await toys.save(
      rows.slice(0, 24).map(({ name }) => toys.create({ name })),
      { chunk: 5 },
    );
    expect(await names()).toHaveLength(25);
  });
});

describe('a listener of an entity', TIMELY, () => {
  it('that uses repositories takes part, and is undone with its row', async () => {
    Object.assign(listening, {
      inserting: () => shelves.count(),
      inserted: () => add('by a listener'),
      removing: () => toys.delete({ name: 'by a listener' }),
    });
    onTestFinished(() => {
      for (const name of Object.keys(listening)) Object.assign(listening, { [name]: () => undefined });
    });
    await shelves.clear();
    const first = await shelves.save(shelves.create());
    expect([first.before, await names()]).toEqual([0, ['by a listener']]);
    // The name is taken, so that the row is undone with it.
    await expect(shelves.save(shelves.create())).rejects.toThrow(/unique/i);
    expect([await shelves.count(), await names()]).toEqual([1, ['by a listener']]);
    await expect(
      dataSource.transaction(() => shelves.remove(shelves.create(first)).then(undo)),
    ).rejects.toThrow('undo');
    expect([await shelves.count(), await names()]).toEqual([1, ['by a listener']]);
    await dataSource.transaction(() => shelves.remove(first));
    expect([await shelves.count(), await names()]).toEqual([0, []]);
  });
});

describe('a subscriber of transactions', TIMELY, () => {
  const listen = (): string[] => {
    const received: string[] = [];
    const note = (what: string) => () => void received.push(what);
    subscribeHere({
      beforeTransactionStart: note('before start'),
      afterTransactionStart: note('start'),
      beforeTransactionCommit: note('before commit'),
      afterTransactionCommit: note('commit'),
      beforeTransactionRollback: note('before rollback'),
      afterTransactionRollback: note('rollback'),
    });
    return received;
  };
  const STARTED = ['before start', 'start'];
  const COMMITTED = ['before commit', 'commit'];
  const UNDONE = ['before rollback', 'rollback'];

  it('is notified when one starts and how it ends', async () => {
    const received = listen();
    await dataSource.transaction(() => add('a'));
    await dataSource.transaction(undo).catch(() => undefined);
    expect(received).toEqual([...STARTED, ...COMMITTED, ...STARTED, ...UNDONE]);
  });

  it('hears of nested ones, each where it is', async () => {
    const received = listen();
    await dataSource.transaction(async (manager) => {
      await manager.transaction(() => add('a'));
      await dataSource.transaction(undo).catch(() => undefined);
    });
    expect(received).toEqual([...STARTED, ...STARTED, ...COMMITTED, ...STARTED, ...UNDONE, ...COMMITTED]);
  });

  it('hears of a query runner by hand', async () => {
    const received = listen();
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.commitTransaction();
    await runner.startTransaction();
    await runner.rollbackTransaction();
    await runner.release();
    expect(received).toEqual([...STARTED, ...COMMITTED, ...STARTED, ...UNDONE]);
  });

  it('is given the runner of the transaction, which is active', async () => {
    const values: unknown[] = [];
    subscribeHere({
      afterTransactionStart: ({ queryRunner }) => void values.push(queryRunner.isTransactionActive),
      beforeTransactionCommit: ({ manager, queryRunner }) =>
        void values.push(manager === queryRunner.manager),
    });
    await dataSource.transaction(() => add('a'));
    expect(values).toEqual([true, true]);
  });

  it('that writes before the commit takes part', async () => {
    let isOn = true;
    subscribeHere({
      beforeTransactionCommit: async ({ manager }) => {
        if (!isOn) return;
        isOn = false;
        await manager.insert(Toy, { name: 'before the commit' });
      },
    });
    await dataSource.transaction(() => add('a'));
    expect(await names()).toEqual(['a', 'before the commit']);
  });

  it('that throws before the commit has the transaction rolled back', async () => {
    let called = false;
    subscribeHere({ beforeTransactionCommit: () => Promise.reject(new Error('no commit')) });
    await expect(
      dataSource.transaction(async () => {
        transactions.afterCommit(() => (called = true));
        await add('a');
      }),
    ).rejects.toThrow('no commit');
    expect([await names(), called]).toEqual([[], false]);
  });

  it('that throws before the start prevents it', async () => {
    const remove = subscribeHere({ beforeTransactionStart: () => Promise.reject(new Error('no start')) });
    await expect(dataSource.transaction(() => add('a'))).rejects.toThrow('no start');
    const runner = dataSource.createQueryRunner();
    await expect(runner.startTransaction()).rejects.toThrow('no start');
    expect(runner.isTransactionActive).toBe(false);
    await runner.release();
    remove();
    await dataSource.transaction(() => add('b'));
    expect(await names()).toEqual(['b']);
  });

  it('that throws after the start has the transaction rolled back, and the connection given back', async () => {
    const remove = subscribeHere({ afterTransactionStart: () => Promise.reject(new Error('too late')) });
    for (let round = 0; round < 12; round += 1)
      await expect(dataSource.transaction(() => add('a'))).rejects.toThrow('too late');
    remove();
    await dataSource.transaction(() => add('b'));
    expect(await names()).toEqual(['b']);
  });

  it('that uses a repository after the commit is in no transaction', async () => {
    const seen: Promise<string[]>[] = [];
    const go = gate();
    subscribeHere({ afterTransactionCommit: () => void seen.push(go.opened.then(names)) });
    await dataSource.transaction(() => add('a'));
    const other = dataSource.transaction(async () => {
      await add('x');
      go.open();
      await new Promise(setImmediate);
      undo();
    });
    await expect(other).rejects.toThrow('undo');
    expect(await Promise.all(seen)).toEqual([['a']]);
  });
});

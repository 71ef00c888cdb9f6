import { randomUUID } from 'node:crypto';
import {
  DataSource,
  QueryFailedError,
  type QueryRunner,
  QueryRunnerAlreadyReleasedError,
  QueryRunnerProviderAlreadyReleasedError,
  TransactionNotStartedError,
  TypeORMError,
} from 'typeorm';
import { describe, expect, it } from 'vitest';
import { ON_POSTGRES } from '../../support/databases.js';
import { gate } from '../../support/gate.js';
import { Toy, openMarket, undo, TIMELY } from '../../support/market.js';

const { dataSource, toys, handle, add, names } = await openMarket();

/** Works with a query runner as Nest's documentation shows it. */
async function byHand(work: (runner: QueryRunner) => Promise<unknown>, connects = true): Promise<void> {
  const runner = dataSource.createQueryRunner();
  if (connects) await runner.connect();
  await runner.startTransaction();
  try {
    await work(runner);
    await runner.commitTransaction();
  } catch (error) {
    await runner.rollbackTransaction();
    throw error;
  } finally {
    await runner.release();
  }
}

const states = ({ isReleased, isTransactionActive }: QueryRunner) => ({ isReleased, isTransactionActive });

describe('a query runner by hand, as the documentation of Nest shows it', TIMELY, () => {
  it.each([
    ['that is connected first', true],
    ['that is not connected first', false],
  ])('%s commits what its manager did', async (_, connects) => {
    await byHand(async ({ manager }) => {
      await manager.insert(Toy, { name: 'a' });
      await manager.save(Toy, { name: 'b' });
      await manager.save(manager.create(Toy, { name: 'c' }));
      await manager.getRepository(Toy).insert({ name: 'd' });
      await manager.createQueryBuilder().insert().into(Toy).values({ name: 'e' }).execute();
      await manager.withRepository(toys).insert({ name: 'f' });
      await manager.query(`INSERT INTO toys (name) VALUES ('g')`);
      expect(await manager.count(Toy)).toBe(7);
    }, connects);
    expect(await names()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  });

  it('undoes all of it by rollbackTransaction()', async () => {
    await expect(
      byHand(async ({ manager }) => {
        await manager.insert(Toy, { name: 'a' });
        await manager.save(Toy, { name: 'b' });
        await manager.transaction((inner) => inner.insert(Toy, { name: 'c' }));
        undo();
      }),
    ).rejects.toThrow('undo');
    expect(await names()).toEqual([]);
  });

  it('runs query() in its transaction', async () => {
    await expect(
      byHand(async (runner) => {
        await runner.query(`INSERT INTO toys (name) VALUES ('a')`);
        expect(await runner.query('SELECT name FROM toys')).toEqual([{ name: 'a' }]);
        expect(await runner.manager.count(Toy)).toBe(1);
        undo();
      }),
    ).rejects.toThrow('undo');
    expect(await names()).toEqual([]);
  });

  it('that is given to a query builder runs it in its transaction', async () => {
    await expect(
      byHand(async (runner) => {
        await toys.createQueryBuilder('toy', runner).insert().values({ name: 'a' }).execute();
        await dataSource
          .createQueryBuilder(runner)
          .update(Toy)
          .set({ name: 'b' })
          .where({ name: 'a' })
          .execute();
        expect(await toys.createQueryBuilder('toy', runner).getCount()).toBe(1);
        undo();
      }),
    ).rejects.toThrow('undo');
    expect(await names()).toEqual([]);
  });

  it('that is released without a commit has undone its work', async () => {
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.manager.insert(Toy, { name: 'forgotten' });
    await runner.release();
    expect(await names()).toEqual([]);
    await add('next');
    expect(await names()).toEqual(['next']);
  });

  it('that is released without a commit two levels deep has undone both', async () => {
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.manager.insert(Toy, { name: 'outer' });
    await runner.startTransaction();
    await runner.manager.insert(Toy, { name: 'inner' });
    await runner.release();
    await add('next');
    expect(await names()).toEqual(['next']);
  });

  it('may be released without anything done, and twice', async () => {
    const runner = dataSource.createQueryRunner();
    await runner.connect();
    await runner.release();
    await runner.release();
    expect(runner.isReleased).toBe(true);
  });

  it('shows its state with isTransactionActive and isReleased', async () => {
    const runner = dataSource.createQueryRunner();
    const observed = [states(runner)];
    await runner.startTransaction();
    observed.push(states(runner));
    await runner.startTransaction();
    await runner.rollbackTransaction();
    observed.push(states(runner));
    await runner.commitTransaction();
    observed.push(states(runner));
    await runner.startTransaction();
    await runner.rollbackTransaction();
    observed.push(states(runner));
    await runner.release();
    observed.push(states(runner));
    const [idle, active] = [
      { isReleased: false, isTransactionActive: false },
      { isReleased: false, isTransactionActive: true },
    ];
    expect(observed).toEqual([idle, active, active, idle, idle, { ...idle, isReleased: true }]);
  });

  it('has the manager, which has it, and the DataSource', async () => {
    const runner = dataSource.createQueryRunner();
    expect(runner.manager.queryRunner).toBe(runner);
    expect(runner.connection).toBe(dataSource);
    expect(runner.connection).toBeInstanceOf(DataSource);
    await runner.release();
    await dataSource.transaction(async ({ queryRunner }) => {
      expect(queryRunner?.isTransactionActive).toBe(true);
      expect(queryRunner?.manager.queryRunner).toBe(queryRunner);
    });
  });

  it('starts a second transaction after the first, and works without one before and after them', async () => {
    const runner = dataSource.createQueryRunner();
    await runner.connect();
    await runner.manager.insert(Toy, { name: 'before' });
    for (const name of ['first', 'second']) {
      await runner.startTransaction();
      await runner.manager.insert(Toy, { name });
      if (name === 'first') await runner.rollbackTransaction();
      else await runner.commitTransaction();
    }
    await runner.manager.insert(Toy, { name: 'behind' });
    await runner.release();
    expect(await names()).toEqual(['before', 'behind', 'second']);
  });

  it('refuses a commit or a rollback of nothing by the error that TypeORM documents', async () => {
    const runner = dataSource.createQueryRunner();
    await expect(runner.commitTransaction()).rejects.toThrow(TransactionNotStartedError);
    await expect(runner.rollbackTransaction()).rejects.toThrow(TransactionNotStartedError);
    await runner.startTransaction();
    await runner.commitTransaction();
    await expect(runner.commitTransaction()).rejects.toThrow(TransactionNotStartedError);
    await expect(runner.rollbackTransaction()).rejects.toThrow(TransactionNotStartedError);
    await runner.release();
  });

  it.each<[string, (runner: QueryRunner) => Promise<unknown>]>([
    ['query()', (runner) => runner.query('SELECT 1')],
    ['a read of its manager', ({ manager }) => manager.find(Toy)],
    ['an insert of its manager', ({ manager }) => manager.insert(Toy, { name: 'late' })],
    ['a save() of its manager', ({ manager }) => manager.save(Toy, { name: 'late' })],
  ])('refuses %s after its release by the error that TypeORM documents', async (_, work) => {
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.commitTransaction();
    await runner.release();
    await expect(work(runner)).rejects.toThrow(QueryRunnerAlreadyReleasedError);
    expect(await names()).toEqual([]);
  });

  it('refuses a transaction() of its manager after its release', async () => {
    const runner = dataSource.createQueryRunner();
    await runner.release();
    await expect(runner.manager.transaction(() => add('late'))).rejects.toThrow(
      QueryRunnerProviderAlreadyReleasedError,
    );
    await expect(runner.startTransaction()).rejects.toThrow(QueryRunnerAlreadyReleasedError);
  });

  it.each(['BEGIN', 'begin transaction', '/* of a team */ BEGIN', '-- of a team\nBEGIN'])(
    'refuses %j by query(): it would take the writes of others along',
    async (sql) => {
      const runner = dataSource.createQueryRunner();
      await runner.connect();
      const started = await runner.query(sql).catch((error: Error) => error);
      await Promise.all(Array.from({ length: 12 }, (_, at) => add(`${at}`)));
      await runner.query('ROLLBACK').catch(() => undefined);
      await runner.release();
      expect(await names()).toHaveLength(12);
      expect(started).toMatchObject({ message: expect.stringContaining('startTransaction()') });
    },
  );

  it.runIf(ON_POSTGRES)('may start and commit in one query()', async () => {
    await dataSource.query(`BEGIN; INSERT INTO toys (name) VALUES ('a'); COMMIT`);
    await expect(dataSource.query(`SELECT 1; BEGIN; INSERT INTO toys (name) VALUES ('b')`)).rejects.toThrow(
      'startTransaction()',
    );
    expect(await names()).toEqual(['a']);
  });

  it('refuses streams of rows in one sentence', async () => {
    const runner = dataSource.createQueryRunner();
    await expect((async () => runner.stream('SELECT * FROM toys'))()).rejects.toThrow(TypeORMError);
    await runner.release();
    await expect(toys.createQueryBuilder('toy').stream()).rejects.toThrow(/[Ss]tream.* not supported/);
    await dataSource.transaction(async () => {
      await expect(toys.createQueryBuilder('toy').stream()).rejects.toThrow(/[Ss]tream.* not supported/);
      await add('a');
    });
    expect(await names()).toEqual(['a']);
  });

  it('counts the depth: a transaction started within its own is rolled back alone', async () => {
    await byHand(async (runner) => {
      await runner.manager.insert(Toy, { name: 'a' });
      await runner.startTransaction();
      await runner.manager.insert(Toy, { name: 'x' });
      await runner.startTransaction();
      await runner.manager.insert(Toy, { name: 'y' });
      await runner.commitTransaction();
      await runner.rollbackTransaction();
      await runner.startTransaction();
      await runner.manager.insert(Toy, { name: 'b' });
      await runner.commitTransaction();
    });
    expect(await names()).toEqual(['a', 'b']);
  });

  it('has nested transactions of its manager, side by side too', async () => {
    await byHand(({ manager }) =>
      Promise.all([
        manager.transaction((inner) => inner.insert(Toy, { name: 'a' })),
        manager
          .transaction(async (inner) => {
            await inner.insert(Toy, { name: 'x' });
            undo();
          })
          .catch(() => undefined),
        manager.save(Toy, { name: 'b' }),
        manager.save(manager.create(Toy, [{ name: 'c' }, { name: 'd' }])),
      ]),
    );
    expect(await names()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('goes on after a statement that failed', async () => {
    await byHand(async (runner) => {
      await runner.manager.insert(Toy, { name: 'a' });
      await expect(runner.manager.insert(Toy, { name: 'a' })).rejects.toThrow(QueryFailedError);
      await expect(runner.manager.save(Toy, { name: 'a' })).rejects.toThrow(QueryFailedError);
      await expect(runner.query('SELECT * FROM nowhere')).rejects.toThrow(QueryFailedError);
      await runner.manager.insert(Toy, { name: 'b' });
    });
    expect(await names()).toEqual(['a', 'b']);
  });

  it('side by side with others mixes nothing: half commit, half are undone', async () => {
    const all = Array.from({ length: 10 }, (_one, at) =>
      byHand(async ({ manager }) => {
        await manager.insert(Toy, { name: `${at}` });
        await new Promise(setImmediate);
        if (at % 2 === 1) undo();
      }).catch(() => undefined),
    );
    await Promise.all(all);
    expect((await names()).map(Number).every((name) => name % 2 === 0)).toBe(true);
    expect(await names()).toHaveLength(5);
  });

  it('two in one handler, one after the other, are two transactions', async () => {
    await handle(async () => {
      await byHand(({ manager }) => manager.insert(Toy, { name: 'a' }));
      await byHand(async ({ manager }) => {
        await manager.insert(Toy, { name: 'x' });
        undo();
      }).catch(() => undefined);
      await add('b');
    });
    expect(await names()).toEqual(['a', 'b']);
  });
});

describe('a query runner by hand in a transaction', TIMELY, () => {
  it('takes part in it: it is undone with it, although it was committed', async () => {
    await expect(
      dataSource.transaction(async () => {
        await byHand(({ manager }) => manager.insert(Toy, { name: 'a' }));
        expect(await names()).toEqual(['a']);
        undo();
      }),
    ).rejects.toThrow('undo');
    expect(await names()).toEqual([]);
  });

  it('that is rolled back is undone alone', async () => {
    await dataSource.transaction(async () => {
      await add('a');
      await byHand(async ({ manager }) => {
        await manager.insert(Toy, { name: 'x' });
        undo();
      }).catch(() => undefined);
      await add('b');
    });
    expect(await names()).toEqual(['a', 'b']);
  });

  it('that is released without a commit is undone alone', async () => {
    await dataSource.transaction(async () => {
      await add('a');
      const runner = dataSource.createQueryRunner();
      await runner.startTransaction();
      await runner.manager.insert(Toy, { name: 'x' });
      await runner.release();
      await add('b');
    });
    expect(await names()).toEqual(['a', 'b']);
  });

  it('that has started nothing may be released at any time: the transaction continues', async () => {
    await dataSource.transaction(async () => {
      const runner = dataSource.createQueryRunner();
      await runner.connect();
      await runner.manager.insert(Toy, { name: 'a' });
      await runner.release();
      await add('b');
    });
    expect(await names()).toEqual(['a', 'b']);
  });

  it('of an @Idempotent() handler commits with its response, and is undone with its failure', async () => {
    const work = () => byHand(({ manager }) => manager.insert(Toy, { name: 'a' }));
    const failing = async () => {
      await work();
      undo();
    };
    await expect(handle(failing, randomUUID())).rejects.toThrow('undo');
    expect(await names()).toEqual([]);
    await handle(work, randomUUID());
    expect(await names()).toEqual(['a']);
  });

  it('of a service does not stop its manager from seeing what repositories have written before', async () => {
    await dataSource.transaction(async () => {
      await add('a');
      await byHand(async ({ manager }) => {
        expect(await manager.count(Toy)).toBe(1);
        await manager.update(Toy, { name: 'a' }, { name: 'b' });
      });
      expect(await names()).toEqual(['b']);
    });
    expect(await names()).toEqual(['b']);
  });
});

describe('the manager of a transaction', TIMELY, () => {
  it('takes an isolation level that both databases have', async () => {
    const result = await dataSource.transaction('SERIALIZABLE', async (manager) => {
      await manager.insert(Toy, { name: 'a' });
      return manager.count(Toy);
    });
    expect([result, await names()]).toEqual([1, ['a']]);
    await byHand(({ manager }) => manager.transaction('SERIALIZABLE', () => add('b')));
    expect(await names()).toEqual(['a', 'b']);
  });

  it('is refused after the transaction by the error that TypeORM documents', async () => {
    const handed = await dataSource.transaction((manager) => Promise.resolve({ manager }));
    await expect(handed.manager.insert(Toy, { name: 'late' })).rejects.toThrow(
      QueryRunnerAlreadyReleasedError,
    );
    await expect(handed.manager.save(Toy, { name: 'late' })).rejects.toThrow(QueryRunnerAlreadyReleasedError);
    await expect(handed.manager.find(Toy)).rejects.toThrow(QueryRunnerAlreadyReleasedError);
    expect(await names()).toEqual([]);
  });

  it('that is handed out of the transaction works in it from elsewhere', async () => {
    // As work that was started before the transaction, which is no part of it: a queue, or a pool of workers.
    const queue: (() => Promise<void>)[] = [];
    const arrived = gate();
    const worker = arrived.opened.then(() => Promise.all(queue.map((job) => job())));
    await expect(
      dataSource.transaction(async (manager) => {
        queue.push(async () => void (await manager.insert(Toy, { name: 'a' })));
        arrived.open();
        await worker;
        expect(await manager.count(Toy)).toBe(1);
        undo();
      }),
    ).rejects.toThrow('undo');
    expect(await names()).toEqual([]);
  });

  it('has its own queryRunner, by which a team may set what holds for the transaction alone', async () => {
    if (!ON_POSTGRES) return;
    const [within] = await dataSource.transaction(async ({ queryRunner }) => {
      await queryRunner?.query(`SET LOCAL application_name = 'team'`);
      return dataSource.query<{ name: string }[]>(`SELECT current_setting('application_name') AS name`);
    });
    const [behind] = await dataSource.query<{ name: string }[]>(
      `SELECT current_setting('application_name') AS name`,
    );
    expect(within?.name).toBe('team');
    expect(behind?.name).not.toBe('team');
  });
});

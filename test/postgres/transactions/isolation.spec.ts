import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type EntityManager, PessimisticLockTransactionRequiredError } from 'typeorm';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel.js';
import { describe, expect, it, vi } from 'vitest';
import { isForeignKeyViolation } from '../../../src/database/constraint-violations.js';
import { ON_POSTGRES, itOnSqlite } from '../../support/databases.js';
import { gate } from '../../support/gate.js';
import { Stall, Toy, type Work, openMarket, undo, TIMELY } from '../../support/market.js';

const { dataSource, toys, deposits, transactions, handle, frames, add, names } = await openMarket();

const itOnPostgres = ON_POSTGRES ? it : it.skip;
/** What a lock with NOWAIT, a serialization and a deadlock fail by. */
const LOST = { driverError: { code: expect.stringMatching(/^(?:55P03|40001|40P01)$/) } };
const NOBODY = { id: 999_999 } as Stall;

/** A transaction that has done its work, and is held up by the test until it is ended. */
async function held(run: (work: Work) => Promise<unknown>, work: Work, end: () => void = () => undefined) {
  const [done, go] = [gate(), gate()];
  const ended = run(async () => {
    await work();
    done.open();
    await go.opened;
    end();
  });
  ended.catch(() => undefined);
  await Promise.race([done.opened, ended]);
  return {
    ended: () => {
      go.open();
      return ended;
    },
  };
}

/** Repeats work that was refused, without effect, because it had waited too long for a connection, as on a busy machine. */
async function patiently(work: Work): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    if (!/cannot handle the request right now|^Error: 503 /.test(String(error))) throw error;
    return patiently(work);
  }
}

describe.each(frames)('what others see of %s', TIMELY, (_, run) => {
  it('nobody outside sees uncommitted changes, and reads continue', async () => {
    await add('before');
    const open = await held(run, () => toys.save([toys.create({ name: 'a' }), toys.create({ name: 'b' })]));
    expect(await names()).toEqual(['before']);
    expect(await dataSource.query('SELECT name FROM toys')).toEqual([{ name: 'before' }]);
    expect(await toys.createQueryBuilder('toy').getCount()).toBe(1);
    await open.ended();
    expect(await names()).toEqual(['a', 'b', 'before']);
  });

  it('nobody outside ever sees changes that are rolled back', async () => {
    const open = await held(run, () => add('a'), undo);
    expect(await names()).toEqual([]);
    await expect(open.ended()).rejects.toThrow('undo');
    expect(await names()).toEqual([]);
  });

  it('an acknowledged concurrent write stays when it is rolled back', async () => {
    const open = await held(run, () => add('x'), undo);
    const concurrent = [
      add('a'),
      toys.save(toys.create({ name: 'b' })),
      dataSource.transaction(() => add('c')),
      handle(() => add('d'), randomUUID()),
    ];
    await new Promise(setImmediate);
    await expect(open.ended()).rejects.toThrow('undo');
    await Promise.all(concurrent);
    expect(await names()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('a failed concurrent write undoes nothing of it', async () => {
    await add('taken');
    const open = await held(run, () => add('a'));
    const concurrent = Promise.allSettled([
      add('taken'),
      toys.save(toys.create({ name: 'taken' })),
      dataSource.transaction(() => add('taken')),
      dataSource.query('SELECT * FROM nowhere'),
    ]);
    await new Promise(setImmediate);
    await open.ended();
    expect((await concurrent).map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
    expect(await names()).toEqual(['a', 'taken']);
  });

  it('two of them at a time mix nothing: what one undoes the other keeps', async () => {
    await Promise.all([
      run(async () => {
        await add('a');
        await new Promise(setImmediate);
        await add('b');
      }),
      run(async () => {
        await add('x');
        await new Promise(setImmediate);
        undo();
      }).catch(() => undefined),
    ]);
    expect(await names()).toEqual(['a', 'b']);
  });

  it('more writers than there are connections, in transactions and not, are all served', async () => {
    const write = (at: number) => (at % 2 ? add(`${at}`) : run(() => add(`${at}`)));
    await Promise.all(Array.from({ length: 20 }, (_one, at) => patiently(() => write(at))));
    expect(await names()).toHaveLength(20);
  });

  it('more of them than there are connections, each with several statements, are all served', async () => {
    const several = (at: number) => async () => {
      await Promise.all([add(`${at} a`), add(`${at} b`), toys.count()]);
      await dataSource.transaction(() => toys.update({ name: `${at} a` }, { count: 2 }));
    };
    await Promise.all(Array.from({ length: 12 }, (_one, at) => patiently(() => run(several(at)))));
    expect([await toys.countBy({ count: 2 }), await toys.count()]).toEqual([12, 24]);
  });

  it('work outside of it is committed by itself', async () => {
    if (!ON_POSTGRES) return; // On SQLite it would wait for the transaction that waits for it.
    await expect(
      run(async () => {
        await add('x');
        await transactions.outside(() => add('a'));
        expect(await transactions.outside(names)).toEqual(['a']);
        undo();
      }),
    ).rejects.toThrow('undo');
    expect(await names()).toEqual(['a']);
  });

  it('reads outside of it see what is committed', async () => {
    await run(async () => {
      await add('x');
      expect([await names(), await transactions.outside(names)]).toEqual([['x'], []]);
    });
  });

  it('a COMMIT that fails rejects, undoes all, calls nobody back, and gives the connection back', async () => {
    for (let round = 0; round < 12; round += 1) {
      let called = false;
      const error = await run(async () => {
        transactions.afterCommit(() => (called = true));
        await add('a');
        await deposits.insert({ stall: NOBODY });
      }).catch((one: unknown) => one);
      // An operation is refused by the row of the catalogue, whose response says so.
      expect(isForeignKeyViolation(error) || /reference_conflict/.test(String(error)), String(error)).toBe(
        true,
      );
      expect(called).toBe(false);
    }
    expect([await names(), await deposits.count()]).toEqual([[], 0]);
    await run(() => add('next'));
    expect(await names()).toEqual(['next']);
  });
});

it('writers are served in the order in which they came', TIMELY, async () => {
  if (ON_POSTGRES) return; // They run side by side.
  const open = await held(
    (work) => dataSource.transaction(work),
    () => add('first'),
  );
  const order: number[] = [];
  const writers: Promise<unknown>[] = [];
  for (let at = 0; at < 20; at += 1) {
    const write = () => toys.update({ name: 'first' }, { count: at });
    writers.push((at % 2 ? dataSource.transaction(write) : write()).then(() => order.push(at)));
    // A transaction waits from its first statement.
    await new Promise(setImmediate);
  }
  await open.ended();
  await Promise.all(writers);
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expect((await toys.findOneByOrFail({})).count).toBe(19);
});

itOnSqlite(
  'who waits for more than 10 s is refused with 503, has written nothing, and nobody is harmed',
  async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const open = await held(
      (work) => dataSource.transaction(work),
      () => add('held'),
    );
    let refused = 0;
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();
    const waiting = [
      add('a'),
      toys.save(toys.create({ name: 'b' })),
      dataSource.transaction(() => add('c')),
      runner.manager.insert(Toy, { name: 'd' }),
    ];
    for (const one of waiting) void one.catch(() => undefined).finally(() => (refused += 1));
    while (refused < waiting.length) {
      await vi.advanceTimersByTimeAsync(1_000);
      await pause(5);
    }
    vi.useRealTimers();
    for (const one of await Promise.allSettled(waiting))
      expect(one).toMatchObject({ status: 'rejected', reason: { status: 503 } });
    await runner.release();
    await open.ended();
    await add('next');
    expect(await names()).toEqual(['held', 'next']);
  },
);

describe('an isolation level', TIMELY, () => {
  type Start = (
    level: IsolationLevel,
    work: (manager: EntityManager) => Promise<unknown>,
  ) => Promise<unknown>;

  const byHand: Start = async (level, work) => {
    const runner = dataSource.createQueryRunner();
    try {
      await runner.startTransaction(level);
      await work(runner.manager);
      await runner.commitTransaction();
    } finally {
      await runner.release();
    }
  };

  it.each<[string, Start]>([
    ['dataSource.transaction()', (level, work) => dataSource.transaction(level, work)],
    ['a query runner', byHand],
  ])('that does not exist is refused by %s, and harms nobody', async (_, start) => {
    const level = 'CHAOS' as IsolationLevel;
    for (let round = 0; round < 15; round += 1) {
      let called = false;
      await expect(start(level, async () => void (called = true))).rejects.toThrow(
        'There is no isolation level CHAOS',
      );
      expect(called).toBe(false);
    }
    await start('SERIALIZABLE', (manager) => manager.insert(Toy, { name: 'a' }));
    expect(await names()).toEqual(['a']);
  });

  const LEVELS = ['READ UNCOMMITTED', 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'] as const;

  it.each(LEVELS)('%s is had with an Idempotency-Key as without, if it comes first', async (level) => {
    const shown: unknown[] = [];
    const work = async (manager: EntityManager) => {
      await manager.insert(Toy, { name: `${shown.length}` });
      const [row] = ON_POSTGRES ? await manager.query<object[]>('SHOW transaction_isolation') : [];
      // To PostgreSQL both are the same.
      shown.push(JSON.stringify(row)?.replace('uncommitted', 'committed'));
    };
    await handle(() => dataSource.transaction(level, work));
    await handle(() => dataSource.transaction(level, work), randomUUID());
    await handle(() => byHand(level, work), randomUUID());
    expect(shown).toEqual([shown[0], shown[0], shown[0]]);
    expect(await names()).toHaveLength(3);
  });

  it('that comes behind the first statement of an operation with a key is had, or refused in one sentence', async () => {
    const work = (level: IsolationLevel) => async () => {
      await toys.count();
      await dataSource.transaction(level, () => add(level));
    };
    for (const level of LEVELS) {
      const ended = handle(work(level), randomUUID());
      if (ON_POSTGRES && ['REPEATABLE READ', 'SERIALIZABLE'].includes(level))
        await expect(ended).rejects.toThrow(`The isolation level ${level} comes too late`);
      else await ended;
    }
    expect(await names()).toHaveLength(ON_POSTGRES ? 2 : 4);
    await toys.clear();
    await handle(work('SERIALIZABLE'));
  });

  it('SERIALIZABLE sees its own writes, on both databases', async () => {
    await dataSource.transaction('SERIALIZABLE', async (manager) => {
      await add('a');
      expect(await manager.count(Toy)).toBe(1);
    });
    expect(await names()).toEqual(['a']);
  });

  itOnPostgres.each([
    ['READ COMMITTED', 1],
    ['REPEATABLE READ', 0],
    ['SERIALIZABLE', 0],
  ] as const)('%s is what PostgreSQL makes of it', async (level, seen) => {
    await dataSource.transaction(level, async () => {
      expect(await toys.count()).toBe(0);
      await transactions.outside(() => add('beside'));
      expect(await toys.count()).toBe(seen);
      const [shown] = await dataSource.query<object[]>('SHOW transaction_isolation');
      expect(shown).toEqual({ transaction_isolation: level.toLowerCase() });
    });
  });

  itOnPostgres('of one transaction is not that of the next on its connection', async () => {
    for (let round = 0; round < 12; round += 1)
      await dataSource.transaction(round % 2 ? 'SERIALIZABLE' : 'REPEATABLE READ', () => add(`${round}`));
    const shown = await Promise.all(
      Array.from({ length: 8 }, () =>
        dataSource.transaction(() => dataSource.query<object[]>('SHOW transaction_isolation')),
      ),
    );
    expect(shown.flat()).toEqual(shown.map(() => ({ transaction_isolation: 'read committed' })));
  });

  itOnPostgres('SERIALIZABLE fails one of two that decide from what the other changes', async () => {
    await toys.insert([{ name: 'a' }, { name: 'b' }]);
    const [one, two] = [gate(), gate()];
    const decide = (name: string, mine: typeof one, other: typeof one) =>
      dataSource.transaction('SERIALIZABLE', async () => {
        const count = await toys.countBy({ count: 1 });
        mine.open();
        await other.opened;
        if (count === 2) await toys.update({ name }, { count: 0 });
      });
    const ends = await Promise.allSettled([decide('a', one, two), decide('b', two, one)]);
    const failed = ends.filter((end) => end.status === 'rejected');
    expect(failed).toHaveLength(1);
    expect(failed[0]?.reason).toMatchObject(LOST);
    expect(await toys.countBy({ count: 1 })).toBe(1);
  });

  itOnPostgres('REPEATABLE READ fails who changes what another has changed since', async () => {
    await add('a');
    const changing = dataSource.transaction('REPEATABLE READ', async () => {
      await toys.find();
      await transactions.outside(() => toys.update({ name: 'a' }, { count: 5 }));
      await toys.increment({ name: 'a' }, 'count', 1);
    });
    await expect(changing).rejects.toMatchObject(LOST);
    expect((await toys.findOneByOrFail({})).count).toBe(5);
  });

  itOnPostgres('a deadlock fails one of two, and the other commits', async () => {
    await toys.insert([{ name: 'a' }, { name: 'b' }]);
    const [one, two] = [gate(), gate()];
    const change = (order: readonly string[], mine: typeof one, other: typeof one) =>
      dataSource.transaction(async () => {
        await toys.increment({ name: order[0] }, 'count', 1);
        mine.open();
        await other.opened;
        await toys.increment({ name: order[1] }, 'count', 1);
      });
    const ends = await Promise.allSettled([change(['a', 'b'], one, two), change(['b', 'a'], two, one)]);
    const failed = ends.filter((end) => end.status === 'rejected');
    expect(failed).toHaveLength(1);
    expect(failed[0]?.reason).toMatchObject(LOST);
    expect((await toys.find()).map(({ count }) => count)).toEqual([2, 2]);
  });
});

describe('a lock', TIMELY, () => {
  const LOCKED = { lock: { mode: 'pessimistic_write', onLocked: 'nowait' } } as const;

  itOnSqlite('is refused by TypeORM on SQLite, whose writers wait anyway, and harms nothing', async () => {
    await dataSource.transaction(async () => {
      await expect(toys.find({ lock: { mode: 'pessimistic_write' } })).rejects.toThrow(/lock/i);
      await add('a');
    });
    expect(await names()).toEqual(['a']);
  });

  itOnPostgres('outside of a transaction is refused by the error that TypeORM documents', async () => {
    await expect(toys.find(LOCKED)).rejects.toThrow(PessimisticLockTransactionRequiredError);
    await expect(toys.createQueryBuilder('toy').setLock('pessimistic_write').getMany()).rejects.toThrow(
      PessimisticLockTransactionRequiredError,
    );
  });

  itOnPostgres.each(frames)('as the first statement in %s keeps others out until it ends', async (_, run) => {
    await add('a');
    const reads: readonly (() => Promise<unknown>)[] = [
      () => toys.find(LOCKED),
      () => toys.findOneOrFail({ where: { name: 'a' }, lock: { mode: 'pessimistic_write' } }),
      () => toys.createQueryBuilder('toy').setLock('pessimistic_write').getMany(),
      () => dataSource.manager.find(Toy, LOCKED),
      () => dataSource.query('SELECT * FROM toys FOR UPDATE'),
    ];
    for (const read of reads) {
      const open = await held(run, read);
      await expect(dataSource.transaction(() => toys.find(LOCKED))).rejects.toMatchObject(LOST);
      await open.ended();
      expect(await dataSource.transaction(() => toys.find(LOCKED))).toHaveLength(1);
    }
  });

  itOnPostgres('of a query runner by hand keeps others out until it is released', async () => {
    await add('a');
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();
    expect(await runner.manager.find(Toy, LOCKED)).toHaveLength(1);
    const busy = dataSource.transaction((manager) => manager.find(Toy, LOCKED));
    await expect(busy).rejects.toMatchObject(LOST);
    await runner.release();
    expect(await dataSource.transaction((manager) => manager.find(Toy, LOCKED))).toHaveLength(1);
  });

  itOnPostgres('that another has is an error of one statement: the transaction goes on', async () => {
    await toys.insert([{ name: 'a' }, { name: 'b' }]);
    const open = await held(
      (work) => dataSource.transaction(work),
      () => toys.find({ ...LOCKED, where: { name: 'a' } }),
    );
    await dataSource.transaction(async () => {
      await add('c');
      await expect(toys.find(LOCKED)).rejects.toMatchObject(LOST);
      expect(await toys.find({ lock: { mode: 'pessimistic_write', onLocked: 'skip_locked' } })).toHaveLength(
        2,
      );
    });
    await open.ended();
    expect(await names()).toEqual(['a', 'b', 'c']);
  });

  itOnPostgres('of a nested transaction that was undone is given back', async () => {
    await add('a');
    const open = await held(
      (work) => dataSource.transaction(work),
      () =>
        dataSource
          .transaction(async () => {
            await toys.find(LOCKED);
            undo();
          })
          .catch(() => undefined),
    );
    expect(await dataSource.transaction(() => toys.find(LOCKED))).toHaveLength(1);
    await open.ended();
  });

  it('by a name is held until the transaction ends', async () => {
    const order: string[] = [];
    const claim = (name: string) => async () => {
      await transactions.lock('the market');
      await add(name);
      order.push(`${name} has it`);
      await new Promise(setImmediate);
      order.push(`${name} ends`);
    };
    await Promise.all(['a', 'b', 'c'].map((name) => dataSource.transaction(claim(name))));
    for (let at = 0; at < order.length; at += 2)
      expect(order[at]?.slice(0, 1)).toBe(order[at + 1]?.slice(0, 1));
  });
});

describe('a rollback', TIMELY, () => {
  /** Takes a few tenths of a second. */
  const SLOW = ON_POSTGRES
    ? `INSERT INTO toys (name) SELECT 'slow' || pg_sleep(0.2)::text`
    : `INSERT INTO toys (name) SELECT 'slow' || (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) SELECT count(*) FROM n)`;

  it.each(frames)('of %s waits for the statement that runs, and undoes it too', async (_, run) => {
    const order: string[] = [];
    let slow: Promise<unknown> | undefined;
    const failing = run(async () => {
      await add('a');
      slow = dataSource.query(SLOW).then(
        () => order.push('statement'),
        () => order.push('statement'),
      );
      await new Promise(setImmediate);
      undo();
    }).finally(() => order.push('transaction'));
    await expect(failing).rejects.toThrow('undo');
    await slow;
    expect(order).toEqual(['statement', 'transaction']);
    expect(await names()).toEqual([]);
    await add('next');
    expect(await names()).toEqual(['next']);
  });
});

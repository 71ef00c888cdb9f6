import { describe, expect, it } from 'vitest';
import { QueryFailedError } from 'typeorm';
import { isForeignKeyViolation, uniqueViolation } from '../../../src/database/constraint-violations.js';
import { ON_POSTGRES } from '../../support/databases.js';
import { Stall, Toy, type Work, openMarket, TIMELY } from '../../support/market.js';

const { dataSource, toys, stalls, transactions, handle, frames, add, names } = await openMarket();
const { manager } = dataSource;
const NOBODY = { id: 999_999 } as Stall;

/** Statements that fail, where a toy `taken` exists. */
const FAILING: readonly (readonly [name: string, work: Work])[] = [
  ['an insert() of a name that is taken', () => toys.insert({ name: 'taken' })],
  [
    'an insert() of several rows, of which one has a name that is taken',
    () => toys.insert(['x', 'taken', 'y'].map((name) => ({ name }))),
  ],
  ['an insert() without a name', () => toys.insert({ count: 1 })],
  ['an insert() at a stall that does not exist', () => toys.insert({ name: 'x', stall: NOBODY })],
  ['an insert() of the manager', () => manager.insert(Toy, { name: 'taken' })],
  ['a save() of a name that is taken', () => toys.save(toys.create({ name: 'taken' }))],
  ['a save() of the manager', () => manager.save(Toy, { name: 'taken' })],
  [
    'a save() of several rows, of which the last has a name that is taken',
    () => toys.save(['x', 'y', 'taken'].map((name) => toys.create({ name }))),
  ],
  [
    'a remove() of a stall with toys',
    async () => {
      const stall = await stalls.findOneByOrFail({ name: 'north' });
      return stalls.remove(stall);
    },
  ],
  ['a delete() of a stall with toys', () => stalls.delete({ name: 'north' })],
  ['an update() to a name that is taken', () => toys.update({ name: 'before' }, { name: 'taken' })],
  [
    'an insert by a query builder',
    () => toys.createQueryBuilder().insert().values({ name: 'taken' }).execute(),
  ],
  ['a query() of a table that does not exist', () => dataSource.query('SELECT * FROM nowhere')],
  ['a query() of a column that does not exist', () => dataSource.query('SELECT nothing FROM toys')],
  ['a query() with a mistake in its syntax', () => dataSource.query('SELEC 1')],
  ['a query() that makes a table that exists', () => dataSource.query('CREATE TABLE toys (id integer)')],
  ['a query() with a comment before it', () => dataSource.query('/* all */ SELECT * FROM nowhere')],
  ['a query() in parentheses', () => dataSource.query('(SELECT * FROM nowhere)')],
];

/** What a client with a key and one without must both get. */
const FRAMES = [
  ...frames,
  [
    'a transaction of an @Idempotent() handler, without a key',
    (work: Work) => handle(() => dataSource.transaction(work)),
  ],
] as const;

async function start(): Promise<void> {
  const { identifiers } = await stalls.insert({ name: 'north' });
  await toys.insert({ name: 'taken', stall: identifiers[0] as Stall });
}

/** Fails by this work in a transaction first, between others and last; returns what is left, and whether it was committed. */
async function failing(run: (work: Work) => Promise<unknown>, work: Work) {
  await start();
  let isCommitted = false;
  await run(async () => {
    transactions.afterCommit(() => (isCommitted = true));
    // Before that, an update finds no row.
    await work().catch(() => undefined);
    await add('before');
    await expect(work()).rejects.toThrow(QueryFailedError);
    await add('behind');
    await expect(work()).rejects.toThrow(QueryFailedError);
    expect(await names()).toEqual(['before', 'behind', 'taken']);
  });
  return { isCommitted, names: await names(), stalls: await stalls.count() };
}

const COMMITTED = { isCommitted: true, names: ['before', 'behind', 'taken'], stalls: 1 };

describe.each(FRAMES)('in %s', TIMELY, (_, run) => {
  it.each(FAILING)(
    '%s undoes only itself, as the first statement too: everything before and after it is committed',
    async (_name, work) => {
      expect(await failing(run, work)).toEqual(COMMITTED);
    },
  );

  it.each(FAILING)('%s that is not caught undoes all of it', async (_name, work) => {
    await start();
    await add('before');
    await expect(
      run(async () => {
        await add('undone');
        await work();
      }),
    ).rejects.toThrow(QueryFailedError);
    expect(await names()).toEqual(['before', 'taken']);
  });

  it('the error names what was violated', async () => {
    await start();
    const errors: unknown[] = [];
    await run(async () => {
      for (const [, work] of FAILING.slice(0, 4)) await work().catch((error) => errors.push(error));
    });
    expect(errors.map(uniqueViolation)).toEqual([['toys.name'], ['toys.name'], undefined, undefined]);
    expect(errors.map(isForeignKeyViolation)).toEqual([false, false, false, true]);
  });

  it('one of ten statements in parallel that fails undoes only itself', async () => {
    const settled: string[] = [];
    await run(async () => {
      const all = Array.from({ length: 10 }, (_one, at) => add(at === 4 ? '3' : `${at}`));
      for (const { status } of await Promise.allSettled(all)) settled.push(status);
    });
    expect(settled.filter((status) => status === 'rejected')).toHaveLength(1);
    expect(await names()).toEqual(['0', '1', '2', '3', '5', '6', '7', '8', '9']);
  });

  it('one of ten save() in parallel that fails undoes only itself', async () => {
    const settled: string[] = [];
    await run(async () => {
      const all = Array.from({ length: 10 }, (_one, at) =>
        toys.save([`${at}`, at === 4 ? '0' : `${at} too`].map((name) => toys.create({ name }))),
      );
      for (const { status } of await Promise.allSettled(all)) settled.push(status);
    });
    expect(settled.filter((status) => status === 'rejected')).toHaveLength(1);
    expect(await names()).toHaveLength(18);
  });

  it('one of ten statements in parallel that is not caught undoes all of it', async () => {
    let all: Promise<unknown>[] = [];
    const undone = run(() => {
      all = Array.from({ length: 10 }, (_one, at) => add(at === 4 ? '3' : `${at}`));
      return Promise.all(all);
    });
    await expect(undone).rejects.toThrow(QueryFailedError);
    const rejected = (await Promise.allSettled(all)).map(({ status }) => status === 'rejected');
    expect(rejected[4]).toBe(true);
    expect(await names()).toEqual([]);
  });

  it('a name that a failed statement requested can be used in the same transaction', async () => {
    await start();
    await run(async () => {
      await expect(toys.insert([{ name: 'x' }, { name: 'taken' }])).rejects.toThrow(QueryFailedError);
      await add('x');
    });
    expect(await names()).toEqual(['taken', 'x']);
  });

  it('thirty statements that fail leave it as it was', async () => {
    await start();
    await run(async () => {
      for (let at = 0; at < 30; at += 1) await add('taken').catch(() => undefined);
      await add('x');
    });
    expect(await names()).toEqual(['taken', 'x']);
  });

  it.runIf(ON_POSTGRES)('statements and nested transactions that fail leave no locks', async () => {
    await start();
    await run(async () => {
      for (let at = 0; at < 30; at += 1) {
        await add('taken').catch(() => undefined);
        await dataSource.transaction(() => add('taken')).catch(() => undefined);
      }
      await add('x');
      const [held] = await dataSource.query<{ count: string }[]>(
        `SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'transactionid'`,
      );
      expect(Number(held?.count)).toBeLessThan(5);
    });
    expect(await names()).toEqual(['taken', 'x']);
  });
});

it('a savepoint of a team stays, although a comment is before it', TIMELY, async () => {
  await dataSource.transaction(async ({ queryRunner }) => {
    await queryRunner?.query('/* of a team */ SAVEPOINT mine');
    await add('a');
    await queryRunner?.query('-- of a team\nROLLBACK TO SAVEPOINT mine');
    await add('b');
  });
  expect(await names()).toEqual(['b']);
});

// What a foreign server does not do, postgres_fdw and dblink report by these; a function of a team may raise any.
it.runIf(ON_POSTGRES).each(['08001', '08006', '28P01', '3D000', '57P01', '57P03'])(
  'a statement that fails by %s is the only one that fails: nothing else is refused',
  TIMELY,
  async (code) => {
    const raise = `DO $$ BEGIN RAISE EXCEPTION 'elsewhere' USING ERRCODE = '${code}'; END $$`;
    const failure = { code: 'service_unavailable', cause: { message: 'elsewhere' } };
    await expect(dataSource.query(raise)).rejects.toMatchObject(failure);
    await add('a');
    await dataSource.transaction(async () => {
      await expect(dataSource.query(raise)).rejects.toMatchObject(failure);
      await add('b');
    });
    expect(await names()).toEqual(['a', 'b']);
  },
);

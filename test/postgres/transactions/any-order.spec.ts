import fc from 'fast-check';
import type { EntityManager } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { ON_POSTGRES, withParameters } from '../../support/databases.js';
import { type Market, Toy, openMarket } from '../../support/market.js';

/** What a piece of work does: it adds a toy, or does others in a transaction, one by one or side by side. */
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

/** Does the work within `name`, with the manager that it was handed or past it; returns what it leaves behind. */
async function perform(market: Market, piece: Work, name: string, manager: EntityManager): Promise<string[]> {
  const { dataSource, toys, names } = market;
  const row = { name };
  if ('adds' in piece) {
    if (piece.adds === 'insert') await toys.insert(row);
    if (piece.adds === 'save') await toys.save(toys.create(row));
    if (piece.adds === 'query')
      await dataSource.query(withParameters('INSERT INTO toys (name) VALUES (?)'), [name]);
    if (piece.adds === 'manager') await manager.insert(Toy, row);
    return [name];
  }
  const left: string[] = [];
  const all = async (inner: EntityManager): Promise<void> => {
    const jobs = piece.of.map((one, index) => async () => {
      // Half of them use the manager of the transaction around.
      left.push(...(await perform(market, one, `${name}.${index}`, index % 2 ? inner : manager)));
    });
    if (piece.sideBySide) await Promise.all(jobs.map((job) => job()));
    else for (const job of jobs) await job();
    expect(await names()).toEqual(expect.arrayContaining(left));
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

/** SQLite in memory has one connection, which reads outside of transactions share. */
const KINDS = ON_POSTGRES ? (['file'] as const) : (['file', 'memory'] as const);

describe.each(KINDS)('work in transactions, and in transactions within them (%s)', async (database) => {
  const market = await openMarket([], { database });
  const { dataSource, toys, names } = market;

  it('leaves only what is in no failed transaction, with any API and any concurrent work', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(work, { minLength: 1, maxLength: 4 }), async (company) => {
        await toys.clear();
        const left = await Promise.all(
          company.map((piece, index) => perform(market, piece, `${index}`, dataSource.manager)),
        );
        expect(await names()).toEqual(left.flat().toSorted());
      }),
      { numRuns: 50 },
    );
  });
});

import { randomUUID } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { DomainEvents, defineEvent } from '../../../src/events/domain-events.js';
import { gate } from '../../support/gate.js';
import { Toy, type Work, openMarket, undo, TIMELY } from '../../support/market.js';

interface Sold {
  readonly name: string;
}
const SOLD = defineEvent<Sold>('toy.sold');

const { service, dataSource, toys, stalls, transactions, frames, handle, add, names } = await openMarket();
const events = service.app.get(DomainEvents);
const collected = service.collect(SOLD);

const nested = (work: Work) => dataSource.transaction(work);
describe.each(frames)('after the commit of %s', TIMELY, (_, run) => {
  const noted: string[] = [];
  const note = (name: string) => transactions.afterCommit(() => noted.push(name));
  const soldIn = () => collected.slice(before).map(({ name }) => name);
  let before = 0;
  const start = () => {
    noted.length = 0;
    before = collected.length;
  };

  it('callbacks are called, and events are delivered, in their order', async () => {
    start();
    await run(async () => {
      for (const name of ['a', 'b', 'c']) {
        note(name);
        events.publish(SOLD, { name });
        await add(name);
      }
      await new Promise(setImmediate);
      expect([noted, soldIn()]).toEqual([[], []]);
    });
    expect(noted).toEqual(['a', 'b', 'c']);
    await service.settled();
    expect(soldIn()).toEqual(['a', 'b', 'c']);
  });

  it('and never after its rollback', async () => {
    start();
    await expect(
      run(async () => {
        note('a');
        events.publish(SOLD, { name: 'a' });
        await add('a');
        await nested(async () => {
          note('b');
          events.publish(SOLD, { name: 'b' });
        });
        undo();
      }),
    ).rejects.toThrow('undo');
    await service.settled();
    expect([noted, soldIn()]).toEqual([[], []]);
  });

  it('those of a nested transaction come if that was committed, among the others in their order', async () => {
    start();
    await run(async () => {
      note('first');
      await nested(async () => {
        note('inner');
        events.publish(SOLD, { name: 'inner' });
        await nested(async () => note('innermost'));
      });
      expect(noted).toEqual([]);
      note('last');
      events.publish(SOLD, { name: 'outer' });
    });
    expect(noted).toEqual(['first', 'inner', 'innermost', 'last']);
    await service.settled();
    expect(soldIn()).toEqual(['inner', 'outer']);
  });

  it('those of a nested transaction that was rolled back are never called, whatever it had committed within it', async () => {
    start();
    await run(async () => {
      note('first');
      await nested(async () => {
        note('x');
        await nested(async () => {
          note('y');
          events.publish(SOLD, { name: 'y' });
          await add('y');
        });
        undo();
      }).catch(() => undefined);
      note('last');
    });
    await service.settled();
    expect([noted, soldIn(), await names()]).toEqual([['first', 'last'], [], []]);
  });

  it('one that throws keeps none of the others, and does not fail the transaction', async () => {
    start();
    await run(async () => {
      note('a');
      transactions.afterCommit(() => {
        throw new Error('This undoes nothing.');
      });
      note('b');
      await add('a');
    });
    expect([noted, await names()]).toEqual([['a', 'b'], ['a']]);
  });

  it('they come where nothing was written, or nothing was done at all', async () => {
    start();
    await run(async () => note('nothing'));
    await run(async () => {
      note('a read');
      await toys.count();
    });
    expect(noted).toEqual(['nothing', 'a read']);
  });

  it('what they read is committed, and what they write is in no transaction of others', async () => {
    start();
    const seen: Promise<unknown>[] = [];
    await run(async () => {
      await add('a');
      transactions.afterCommit(() => {
        seen.push(transactions.outside(names));
        seen.push(stalls.insert({ name: 'by a callback' }));
        seen.push(dataSource.transaction(() => toys.update({ name: 'a' }, { count: 9 })));
      });
    });
    const [read] = await Promise.all(seen);
    expect(read).toEqual(['a']);
    expect([await stalls.count(), await toys.countBy({ count: 9 })]).toEqual([1, 1]);
  });

  it('a callback may register another one, which is called too', async () => {
    start();
    await run(async () => {
      transactions.afterCommit(() => {
        noted.push('a');
        note('b');
      });
      await add('a');
    });
    expect(noted).toEqual(['a', 'b']);
  });

  it('isInside() returns whether the caller takes part', async () => {
    const inside = [transactions.isInside()];
    await run(async () => {
      inside.push(
        transactions.isInside(),
        transactions.outside(() => transactions.isInside()),
      );
      await nested(async () => inside.push(transactions.isInside()));
      inside.push(transactions.isInside());
    });
    inside.push(transactions.isInside());
    expect(inside).toEqual([false, true, false, true, true, false]);
  });
});

describe('work that continues after its transaction', TIMELY, () => {
  /** Ways of writing later. */
  const LATE: readonly (readonly [name: string, work: (name: string) => Promise<unknown>])[] = [
    ['insert()', add],
    ['save()', (name) => toys.save(toys.create({ name }))],
    ['query()', (name) => dataSource.query(`INSERT INTO toys (name) VALUES ('${name}')`)],
    ['a query builder', (name) => toys.createQueryBuilder().insert().values({ name }).execute()],
    ['a transaction', (name) => dataSource.transaction(() => add(name))],
    ['save() of several rows', (name) => toys.save(toys.create([{ name }, { name: `${name} too` }]))],
    [
      'a query runner by hand',
      async (name) => {
        const runner = dataSource.createQueryRunner();
        await runner.startTransaction();
        await runner.manager.insert(Toy, { name });
        await runner.commitTransaction();
        await runner.release();
      },
    ],
  ];
  const TIMES = frames.filter(([name]) => !name.includes('nested'));

  describe.each(TIMES)('which was %s', (_, run) => {
    it.each(LATE)('is committed by itself: %s', async (_name, work) => {
      const go = gate();
      let late: Promise<unknown> | undefined;
      await run(async () => {
        await add('in time');
        late = go.opened.then(() => work('late'));
      });
      go.open();
      await late;
      expect(await names()).toEqual(expect.arrayContaining(['in time', 'late']));
    });

    it.each(LATE)('is not in the transaction of another that runs then: %s', async (_name, work) => {
      const go = gate();
      let late: Promise<unknown> | undefined;
      await run(async () => {
        await add('in time');
        late = go.opened.then(() => work('late'));
      });
      const other = dataSource.transaction(async () => {
        await add('undone');
        go.open();
        for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
        undo();
      });
      await expect(other).rejects.toThrow('undo');
      await late;
      expect(await names()).toEqual(expect.arrayContaining(['in time', 'late']));
      expect(await names()).not.toContain('undone');
    });

    it('has callbacks called at once', async () => {
      const go = gate();
      const noted: unknown[] = [];
      let late: Promise<unknown> | undefined;
      await run(async () => {
        await add('in time');
        late = (async () => {
          await go.opened;
          transactions.afterCommit(() => noted.push('late'));
          noted.push(transactions.isInside());
        })();
      });
      go.open();
      await late;
      expect(noted).toEqual(['late', false]);
    });

    it('has the callbacks of its own transaction called after that', async () => {
      const go = gate();
      const noted: string[] = [];
      let late: Promise<unknown> | undefined;
      await run(async () => {
        await add('in time');
        late = go.opened.then(() =>
          dataSource.transaction(async () => {
            transactions.afterCommit(() => noted.push('late'));
            await add('late');
            expect(noted).toEqual([]);
          }),
        );
      });
      go.open();
      await late;
      expect(noted).toEqual(['late']);
    });

    it('does not write with its manager any more', async () => {
      const managers: EntityManager[] = [];
      await dataSource.transaction(async (manager) => void managers.push(manager));
      await expect(managers[0]?.insert(Toy, { name: 'late' })).rejects.toThrow(/released/);
      expect(await names()).toEqual([]);
    });

    it('a statement that was sent before its end, and not awaited, is in it or after it, and not lost', async () => {
      let late: Promise<unknown> | undefined;
      await run(async () => {
        await add('in time');
        late = add('late');
      });
      await late;
      expect(await names()).toEqual(['in time', 'late']);
    });

    it('continues after many turns, timers and other transactions', async () => {
      let late: Promise<unknown> | undefined;
      await run(async () => {
        await add('in time');
        late = (async () => {
          for (let at = 0; at < 5; at += 1) {
            await new Promise((resolve) => setTimeout(resolve, 0));
            await new Promise(setImmediate);
            await (at % 2 ? add(`late ${at}`) : dataSource.transaction(() => add(`late ${at}`)));
          }
        })();
      });
      for (let at = 0; at < 5; at += 1) {
        await dataSource
          .transaction(async () => {
            await add('x');
            await new Promise(setImmediate);
            undo();
          })
          .catch(() => undefined);
      }
      await late;
      expect(await names()).toEqual(['in time', ...[0, 1, 2, 3, 4].map((at) => `late ${at}`)]);
    });
  });

  it('whose nested transaction ends after the outer one is committed with it', async () => {
    let within: Promise<unknown> | undefined;
    await dataSource.transaction(async () => {
      within = nested(async () => {
        await add('first');
        await new Promise(setImmediate);
        await add('second');
      });
      await new Promise(setImmediate);
    });
    await within;
    expect(await names()).toEqual(['first', 'second']);
  });

  it('that was nested, and is not awaited by it, continues in the outer one', async () => {
    const go = gate();
    let late: Promise<unknown> | undefined;
    await expect(
      dataSource.transaction(async () => {
        await nested(async () => {
          await add('a');
          late = go.opened.then(() => add('late'));
        });
        go.open();
        await late;
        expect(await names()).toEqual(['a', 'late']);
        undo();
      }),
    ).rejects.toThrow('undo');
    expect(await names()).toEqual([]);
  });

  /** Asks to be called back after a rollback, by work that was started in the transaction and has done nothing since. */
  async function calledBack(meanwhile: (go: () => void) => Promise<unknown>): Promise<string[]> {
    const go = gate();
    const noted: string[] = [];
    let late: Promise<unknown> | undefined;
    const failing = dataSource.transaction(async () => {
      await add('x');
      late = go.opened.then(() => transactions.afterCommit(() => noted.push('late')));
      undo();
    });
    await expect(failing).rejects.toThrow('undo');
    await meanwhile(go.open);
    await late;
    return noted;
  }

  it('that was rolled back runs no callbacks for it, while another transaction runs', async () => {
    const other = async (go: () => void) => {
      go();
      await new Promise(setImmediate);
    };
    expect(await calledBack((go) => dataSource.transaction(() => other(go)))).toEqual([]);
  });

  /** Calls work in a transaction that is rolled back before the work has ended. */
  async function undoneDuring(work: () => Promise<unknown>): Promise<string[]> {
    let late: Promise<unknown> | undefined;
    const failing = dataSource.transaction(async () => {
      await add('x');
      late = work();
      late.catch(() => undefined);
      undo();
    });
    await expect(failing).rejects.toThrow('undo');
    await late?.catch(() => undefined);
    return names();
  }

  it.each<[string, () => Promise<unknown>]>([
    ['a statement', () => add('late')],
    ['save()', () => toys.save(toys.create({ name: 'late' }))],
    ['a nested transaction', () => dataSource.transaction(() => add('late'))],
  ])('that was undone leaves nothing by %s that was called before its end', async (_, work) => {
    expect(await undoneDuring(work)).toEqual([]);
  });
});

it('a handler that runs no statement commits its response, one that reads too, each once', async () => {
  let runs = 0;
  const [key, other] = [randomUUID(), randomUUID()];
  await handle(async () => (runs += 1), key);
  await handle(() => toys.count().then(() => (runs += 1)), other);
  expect(runs).toBe(2);
});

it('a handler acquires no connection before its first statement', async () => {
  const [entered, go] = [gate(), gate()];
  const handled = handle(async () => {
    entered.open();
    await go.opened;
    await add('a');
  }, randomUUID());
  await entered.opened;
  // Read outside the handler, whose transaction the queries of other metrics would otherwise begin. Jobs and webhooks use a connection every
  // second.
  await expect.poll(() => service.metric('petstore_database_connections', { state: 'in_use' })).toBe(0);
  go.open();
  await handled;
  await expect(handle(async () => undo(), randomUUID())).rejects.toThrow('undo');
  expect(await names()).toEqual(['a']);
});

import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { gate } from '../../support/gate.js';
import { Toy, type Work, openMarket, undo, TIMELY } from '../../support/market.js';

const { dataSource, toys, transactions, frames, handle, add, names } = await openMarket();

const nested = (work: Work) => dataSource.transaction(work);
/** A nested transaction that adds a toy and is undone. */
const undone = (name: string, before: Work = async () => undefined) =>
  expect(
    nested(async () => {
      await add(name);
      await before();
      undo();
    }),
  ).rejects.toThrow('undo');
const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate);
};

describe.each(frames)('a transaction nested in %s', TIMELY, (_, run) => {
  it('that fails undoes itself alone', async () => {
    await run(async () => {
      await add('a');
      await undone('x');
      await nested(() => add('b'));
    });
    expect(await names()).toEqual(['a', 'b']);
  });

  it('as the first thing in it is undone alone', async () => {
    await run(async () => {
      await undone('x');
      await add('a');
    });
    expect(await names()).toEqual(['a']);
  });

  it('as the first and only thing in it is committed with it', async () => {
    await run(() => nested(() => nested(() => add('a'))));
    expect(await names()).toEqual(['a']);
  });

  it('as the first thing in it is undone with it', async () => {
    await expect(
      run(async () => {
        await nested(() => add('a'));
        undo();
      }),
    ).rejects.toThrow('undo');
    expect(await names()).toEqual([]);
  });

  it('that was committed is undone with it', async () => {
    await expect(
      run(async () => {
        await add('a');
        await nested(() => nested(() => add('b')));
        expect(await names()).toEqual(['a', 'b']);
        undo();
      }),
    ).rejects.toThrow('undo');
    expect(await names()).toEqual([]);
  });

  it('and once more takes what is within it along, and nothing around it', async () => {
    await run(async () => {
      await add('a');
      await undone('x', async () => {
        await nested(() => add('y'));
        await undone('z');
        expect(await names()).toEqual(['a', 'x', 'y']);
      });
      await nested(async () => {
        await add('b');
        await undone('z');
        await add('c');
      });
    });
    expect(await names()).toEqual(['a', 'b', 'c']);
  });

  it('twenty deep, undone in the middle, keeps what is above', async () => {
    const deeper = async (depth: number): Promise<void> => {
      await add(`${depth}`);
      if (depth < 20)
        await nested(() => deeper(depth + 1)).catch((error: Error) => {
          if (depth >= 10) throw error;
        });
      else undo();
    };
    await run(() => deeper(1));
    expect(await names()).toHaveLength(9);
  });

  it('may be undone many times in a row, and gives a name back each time', async () => {
    await run(async () => {
      for (let round = 0; round < 20; round += 1) await undone('x');
      await add('x');
    });
    expect(await names()).toEqual(['x']);
  });

  it('leaves a row that it changed as it was before', async () => {
    await add('a');
    await run(async () => {
      await toys.update({ name: 'a' }, { count: 2 });
      await nested(async () => {
        await toys.update({ name: 'a' }, { count: 3 });
        await toys.delete({ name: 'a' });
        undo();
      }).catch(() => undefined);
      expect((await toys.findOneByOrFail({ name: 'a' })).count).toBe(2);
    });
    expect((await toys.findOneByOrFail({ name: 'a' })).count).toBe(2);
  });

  it('returns the value of its work, and rejects with the error of its work', async () => {
    const error = new Error('undo');
    let result: unknown[] = [];
    await run(async () => {
      result = [await nested(async () => 7), await nested(() => Promise.reject(error)).catch((one) => one)];
    });
    expect(result).toEqual([7, error]);
    expect(result[1]).toBe(error);
  });

  it('of a manager within it, of a repository and of the DataSource are the same', async () => {
    await run(() =>
      dataSource.transaction(async (manager) => {
        await manager.insert(Toy, { name: 'a' });
        await manager.transaction((inner) => inner.insert(Toy, { name: 'b' }));
        await toys.manager.transaction((inner) => inner.getRepository(Toy).insert({ name: 'c' }));
        for (const one of [manager, toys.manager, dataSource])
          await one
            .transaction(async (inner) => {
              await inner.insert(Toy, { name: 'x' });
              await toys.insert({ name: 'y' });
              undo();
            })
            .catch(() => undefined);
        expect(await manager.count(Toy)).toBe(3);
      }),
    );
    expect(await names()).toEqual(['a', 'b', 'c']);
  });

  it('side by side with others is undone alone', async () => {
    await run(() =>
      Promise.all([
        nested(async () => {
          await add('a');
          await turns(3);
          await add('b');
        }),
        undone('x', () => turns(2)),
        nested(async () => {
          await nested(() => add('c'));
          await undone('y', () => turns(1));
          await add('d');
        }),
      ]),
    );
    expect(await names()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('side by side with others, of which nobody catches the one that fails, is undone with all', async () => {
    await expect(
      run(() =>
        Promise.all([
          nested(async () => {
            await add('a');
            await turns(5);
            await add('b');
          }),
          nested(async () => {
            await add('x');
            undo();
          }),
        ]),
      ),
    ).rejects.toThrow('undo');
    await turns(10);
    expect(await names()).toEqual([]);
  });

  it('that fails undoes no concurrent statement', async () => {
    await run(async () => {
      const started = gate();
      const failing = undone('x', async () => {
        started.open();
        await turns(3);
      });
      await started.opened;
      await Promise.all([failing, add('a'), toys.save(toys.create({ name: 'b' }))]);
    });
    expect(await names()).toEqual(['a', 'b']);
  });

  it('a hundred side by side, of which half fail, keep the other half', async () => {
    await run(() =>
      Promise.allSettled(
        Array.from({ length: 100 }, (_one, at) =>
          nested(async () => {
            await add(`${at}`);
            if (at % 2 === 1) undo();
          }),
        ),
      ),
    );
    expect(await names()).toHaveLength(50);
  });

  it('that is still open when it throws is rolled back with it, gets the reason, and leaves the connection unchanged', async () => {
    const [started, failed] = [gate(), gate()];
    let inner: Promise<unknown> | undefined;
    let called = 0;
    await expect(
      run(async () => {
        await add('outer');
        inner = nested(async () => {
          transactions.afterCommit(() => (called += 1));
          await add('inner');
          started.open();
          await failed.opened;
          await add('late');
        });
        inner.catch(() => undefined);
        await started.opened;
        undo();
      }),
    ).rejects.toThrow('undo');
    failed.open();
    await expect(inner).rejects.toThrow(/transaction|ended/);
    expect(await names()).toEqual([]);
    await dataSource.transaction(() => nested(() => add('next')));
    expect([await names(), called]).toEqual([['next'], 0]);
  });

  it('two levels of which are still open when it throws are undone with it', async () => {
    const [started, failed] = [gate(), gate()];
    const ends: string[] = [];
    const level = (name: string, work: Work): Promise<unknown> =>
      nested(async () => {
        await add(name);
        await work();
      }).catch(() => ends.push(name));
    let open: Promise<unknown> | undefined;
    await expect(
      run(async () => {
        open = level('first', () =>
          level('second', async () => {
            started.open();
            await failed.opened;
            await add('third');
          }),
        );
        await started.opened;
        undo();
      }),
    ).rejects.toThrow('undo');
    // Another transaction has the connection before they go on.
    const other = dataSource.transaction(async () => {
      await add('other');
      failed.open();
      await open;
      await nested(() => add('nested'));
    });
    await other;
    expect(ends.toSorted()).toContain('second');
    expect(await names()).toEqual(['nested', 'other']);
  });

  it('that its runner has started and not ended is reported, and rolled back with it', async () => {
    const forgotten = run(async () => {
      await add('a');
      await dataSource.transaction(async ({ queryRunner }) => {
        await queryRunner?.startTransaction();
        await queryRunner?.manager.insert(Toy, { name: 'b' });
      });
    });
    await expect(forgotten).rejects.toThrow('has not ended');
    expect(await names()).toEqual([]);
  });

  it('that is not awaited is waited for, and committed with it', async () => {
    let inner: Promise<unknown> | undefined;
    await run(async () => {
      inner = nested(async () => {
        await add('first');
        await turns(2);
        await add('second');
      });
      // It has started.
      await turns(1);
    });
    await inner;
    expect(await names()).toEqual(['first', 'second']);
  });

  it('takes the isolation level of what it is in', async () => {
    await run(() => dataSource.transaction('SERIALIZABLE', () => add('a')));
    expect(await names()).toEqual(['a']);
  });
});

it('a handler whose transaction starts lazily may nest first, in parallel', TIMELY, async () => {
  await handle(
    () =>
      Promise.all([
        nested(() => add('a')),
        undone('x'),
        nested(() => nested(() => add('b'))),
        add('c'),
        toys.save(toys.create({ name: 'd' })),
      ]),
    randomUUID(),
  );
  expect(await names()).toEqual(['a', 'b', 'c', 'd']);
});

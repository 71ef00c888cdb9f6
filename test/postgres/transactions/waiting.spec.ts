import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ON_POSTGRES } from '../../support/databases.js';
import { gate } from '../../support/gate.js';
import { Toy, openMarket, undo, TIMELY } from '../../support/market.js';

// The stopped clock is also that of the driver.
const { dataSource, toys, stalls, frames, handle, add, names } = await openMarket([], {
  environment: { DATABASE_STATEMENT_TIMEOUT_MS: '600000' },
});

const SECOND = 1_000;

/** Only what is called moves the clock, until the test is over. */
function stopClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
}

/** What is logged as an error, until the test is over. */
function errorLines(): string[] {
  const lines: string[] = [];
  const spy = vi
    .spyOn(Logger.prototype, 'error')
    .mockImplementation((line: string) => void (line.includes('transaction') && lines.push(line)));
  onTestFinished(() => spy.mockRestore());
  return lines;
}

describe('a transaction that runs no statement for 15 s', TIMELY, () => {
  it('of a query runner that is never released is rolled back, and its connection given back', async () => {
    const lines = errorLines();
    stopClock();
    const runners = [];
    // As many as there are connections.
    for (let at = 0; at < (ON_POSTGRES ? 8 : 1); at += 1) {
      const runner = dataSource.createQueryRunner();
      await runner.connect();
      await runner.startTransaction();
      await runner.manager.insert(Toy, { name: `forgotten ${at}` });
      runners.push(runner);
    }
    await vi.advanceTimersByTimeAsync(14 * SECOND);
    expect(lines).toEqual([]);
    await vi.advanceTimersByTimeAsync(SECOND);
    vi.useRealTimers();
    await expect.poll(() => add('next').then(() => names())).toEqual(['next']);
    expect(lines).toHaveLength(runners.length);
    expect(lines[0]).toMatch(
      /^The transaction at .*waiting\.spec\.ts:\d+.* was rolled back: it ran no statement for 15 s\./,
    );
    for (const runner of runners) {
      await expect(runner.manager.insert(Toy, { name: 'late' })).rejects.toThrow('ran no statement for 15 s');
      await expect(runner.commitTransaction()).rejects.toThrow('ran no statement for 15 s');
      await runner.rollbackTransaction();
      await runner.release();
    }
    expect(await names()).toEqual(['next']);
  });

  it.each(frames)('is rolled back in %s, and its late work is refused', async (_, run) => {
    errorLines();
    stopClock();
    const [idle, go] = [gate(), gate()];
    const ended = run(async () => {
      await add('undone');
      idle.open();
      await go.opened;
      await add('late');
    });
    ended.catch(() => undefined);
    await idle.opened;
    await vi.advanceTimersByTimeAsync(15 * SECOND);
    vi.useRealTimers();
    await expect.poll(() => add('next').then(() => names())).toEqual(['next']);
    go.open();
    await expect(ended).rejects.toThrow('ran no statement for 15 s');
    expect(await names()).toEqual(['next']);
  });

  it('continues while it runs statements, however long it takes', async () => {
    stopClock();
    await dataSource.transaction(async () => {
      for (let at = 0; at < 4; at += 1) {
        await dataSource.transaction(() => add(`${at}`));
        await vi.advanceTimersByTimeAsync(10 * SECOND);
      }
    });
    vi.useRealTimers();
    expect(await names()).toHaveLength(4);
  });

  it.each(['commitTransaction', 'rollbackTransaction'] as const)('%s leaves no timer behind', async (end) => {
    const lines = errorLines();
    stopClock();
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.manager.insert(Toy, { name: 'a' });
    await runner[end]();
    await vi.advanceTimersByTimeAsync(20 * SECOND);
    vi.useRealTimers();
    await runner.release();
    expect(lines).toEqual([]);
  });
});

describe('statements that wait in a transaction', TIMELY, () => {
  it.each(frames)('for more than 10 s are carried out in %s, as long as it runs others', async (_, run) => {
    stopClock();
    const all = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'];
    const slow = (name: string) => add(name).then(() => vi.advanceTimersByTime(1.5 * SECOND));
    await run(() =>
      Promise.all([dataSource.transaction(() => Promise.all(all.slice(1).map(slow))), slow('a')]),
    );
    vi.useRealTimers();
    expect(await names()).toEqual(all);
  });

  it('as those of save() of 1,500 changed rows, are carried out', { timeout: 120_000 }, async () => {
    const rows = await toys.save(Array.from({ length: 1_500 }, (_, at) => toys.create({ name: `${at}` })));
    for (const row of rows) row.count = 2;
    await toys.save(rows);
    expect(await toys.countBy({ count: 2 })).toBe(1_500);
  });
});

describe('alongside a query runner that has started a transaction', TIMELY, () => {
  const runConcurrently = async (outcome: () => void = () => undefined) => {
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();
    try {
      const toy = await toys.findOneByOrFail({ name: 'a' });
      await runner.manager.update(Toy, { id: toy.id }, { count: 2 });
      expect(await toys.createQueryBuilder('toy').getCount()).toBe(1);
      expect(await dataSource.query('-- of a team\nSELECT name FROM toys')).toEqual([{ name: 'a' }]);
      expect(await stalls.find()).toEqual([]);
      outcome();
      await runner.commitTransaction();
    } catch (error) {
      await runner.rollbackTransaction();
      throw error;
    } finally {
      await runner.release();
    }
  };

  it.each([
    ['without a key', undefined],
    ['with an Idempotency-Key', true],
  ])('the same handler reads by repositories, %s', async (_, hasKey) => {
    const key = () => (hasKey ? randomUUID() : undefined);
    await add('a');
    await handle(() => runConcurrently(), key());
    expect(await toys.countBy({ count: 2 })).toBe(1);
    await toys.update({ name: 'a' }, { count: 1 });
    await handle(() => runConcurrently(undo).catch(() => undefined), key());
    expect(await toys.countBy({ count: 1 })).toBe(1);
  });

  it('a write of the same handler past its manager waits, with an Idempotency-Key, and gets 503 after 10 s', async () => {
    stopClock();
    const refusals: unknown[] = [];
    const ended = handle(async () => {
      const own = dataSource.createQueryRunner();
      try {
        await own.startTransaction();
        await own.manager.insert(Toy, { name: 'a' });
        await add('b').catch((error: unknown) => refusals.push(error));
        throw refusals[0];
      } finally {
        await own.release();
      }
    }, randomUUID());
    ended.catch(() => undefined);
    while (refusals.length === 0) {
      await vi.advanceTimersByTimeAsync(SECOND);
      await pause(5);
    }
    vi.useRealTimers();
    await expect(ended).rejects.toMatchObject({ status: 503 });
    expect(await names()).toEqual([]);
  });
});

it('a read waits for no writer, with any comments before it', TIMELY, async () => {
  await add('a');
  const [full, end] = [gate(), gate()];
  // As many writers as there may be.
  const most = ON_POSTGRES ? 8 : 1;
  let started = 0;
  const writers = Array.from({ length: most }, (_, at) =>
    dataSource.transaction(async () => {
      await add(`writer ${at}`);
      if ((started += 1) === most) full.open();
      await end.opened;
    }),
  );
  await full.opened;
  const reads = [
    '/* of a team */ SELECT name FROM toys',
    '-- of a team\n  select name from toys',
    '/* a * b */ WITH a AS (SELECT name FROM toys) SELECT name FROM a',
  ];
  for (const sql of reads) expect(await dataSource.query(sql)).toEqual([{ name: 'a' }]);
  end.open();
  await Promise.all(writers);
});

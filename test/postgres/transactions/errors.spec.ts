import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import {
  Column,
  Entity,
  OptimisticLockVersionMismatchError,
  PrimaryGeneratedColumn,
  QueryFailedError,
  VersionColumn,
} from 'typeorm';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { addedTable } from '../../support/added-table.js';
import { ON_POSTGRES } from '../../support/databases.js';
import { gate } from '../../support/gate.js';
import { type Work, openMarket, TIMELY } from '../../support/market.js';

@Entity('books')
class Book {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column('varchar', { length: 20 })
  title!: string;

  @VersionColumn()
  version!: number;
}

const { dataSource, toys, frames, transactions, respond, handle, add, names } = await openMarket([
  addedTable(Book),
]);

/** What the database is logged to suffer from, until the test is over. */
function outages(): string[] {
  const lines: string[] = [];
  for (const level of ['error', 'warn'] as const) {
    const spy = vi
      .spyOn(Logger.prototype, level)
      .mockImplementation((line: string) => void (line.startsWith('PostgreSQL') && lines.push(line)));
    onTestFinished(() => spy.mockRestore());
  }
  return lines;
}

const KEYS = [
  ['without a key', () => undefined],
  ['with an Idempotency-Key', () => randomUUID()],
] as const;

describe.each(KEYS)('an optimistic lock, %s', TIMELY, (_, key) => {
  it('with another version than that of the row returns 412', async () => {
    const books = dataSource.getRepository(Book);
    const { id } = await books.save(books.create({ title: 'a' }));
    const reading = (version: number) => () =>
      dataSource.transaction(() =>
        books.findOneOrFail({ where: { id }, lock: { mode: 'optimistic', version } }),
      );
    await handle(reading(1), key());
    await expect(handle(reading(2), key())).rejects.toThrow(OptimisticLockVersionMismatchError);
    const { status, body } = await respond(reading(2), key());
    expect([status, body]).toMatchObject([412, { code: 'precondition_failed' }]);
  });
});

describe.runIf(ON_POSTGRES)('an error of one statement on PostgreSQL', TIMELY, () => {
  beforeEach(() => toys.insert([{ name: 'a' }, { name: 'b' }]));

  /** Fails by a serialization, at the statement and at the COMMIT, a deadlock, and a lock that another has. */
  const RACES: readonly (readonly [code: string, name: string, work: Work])[] = [
    [
      '40001',
      'a row that another has changed since',
      () =>
        dataSource.transaction('REPEATABLE READ', async () => {
          await toys.find();
          await transactions.outside(() => toys.increment({ name: 'a' }, 'count', 1));
          await toys.increment({ name: 'a' }, 'count', 1);
        }),
    ],
    [
      '40001',
      'two that decide from what the other changes, at the COMMIT',
      async () => {
        const [one, two] = [gate(), gate()];
        const decide = (name: string, mine: typeof one, other: typeof one) =>
          transactions.outside(() =>
            dataSource.transaction('SERIALIZABLE', async () => {
              await toys.countBy({ count: 1 });
              await toys.increment({ name }, 'count', 1);
              mine.open();
              await other.opened;
            }),
          );
        const ends = await Promise.allSettled([decide('a', one, two), decide('b', two, one)]);
        for (const end of ends) if (end.status === 'rejected') throw end.reason;
      },
    ],
    [
      '40P01',
      'a deadlock',
      async () => {
        const [one, two] = [gate(), gate()];
        const change = (order: readonly string[], mine: typeof one, other: typeof one) =>
          transactions.outside(() =>
            dataSource.transaction(async () => {
              await toys.increment({ name: order[0] }, 'count', 1);
              mine.open();
              await other.opened;
              await toys.increment({ name: order[1] }, 'count', 1);
            }),
          );
        const ends = await Promise.allSettled([change(['a', 'b'], one, two), change(['b', 'a'], two, one)]);
        for (const end of ends) if (end.status === 'rejected') throw end.reason;
      },
    ],
    [
      '55P03',
      'a lock that another has',
      () =>
        transactions.outside(() =>
          dataSource.transaction(async () => {
            await toys.find({ lock: { mode: 'pessimistic_write' } });
            await transactions.outside(() =>
              dataSource.transaction(() =>
                toys.find({ lock: { mode: 'pessimistic_write', onLocked: 'nowait' } }),
              ),
            );
          }),
        ),
    ],
  ];

  it.each(RACES)('%s, %s, is TypeORM’s QueryFailedError, and 503 to a client', async (code, _, work) => {
    const lines = outages();
    const error = await work().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(QueryFailedError);
    expect(error).toMatchObject({ code, driverError: { code } });
    expect(lines).toEqual([]);
    const { status, body, headers } = await respond(work);
    expect([status, body, headers.get('retry-after')]).toMatchObject([
      503,
      { code: 'service_unavailable' },
      '1',
    ]);
    expect(lines).toEqual([]);
  });

  it('that loses a race may be repeated, as the documentation of TypeORM and of PostgreSQL shows', async () => {
    let isFirst = true;
    const attempt = () =>
      dataSource.transaction('REPEATABLE READ', async () => {
        await toys.find();
        if (isFirst) await transactions.outside(() => toys.increment({ name: 'a' }, 'count', 1));
        isFirst = false;
        await toys.increment({ name: 'a' }, 'count', 1);
      });
    const persistently = (): Promise<void> =>
      attempt().catch((error: unknown) => {
        const { driverError } = error as QueryFailedError<Error & { code?: string }>;
        if (!(error instanceof QueryFailedError) || driverError.code !== '40001') throw error;
        return persistently();
      });
    await handle(persistently);
    expect((await toys.findOneByOrFail({ name: 'a' })).count).toBe(3);
  });

  it.each(frames)('that writes after SET TRANSACTION READ ONLY in %s is its own', async (_, run) => {
    const lines = outages();
    for (const set of ['SET TRANSACTION READ ONLY', '/* a */ set local transaction_read_only = on']) {
      const writing = run(async () => {
        await dataSource.query(set);
        await expect(add('x')).rejects.toMatchObject({ driverError: { code: '25006' } });
        throw new Error('undo');
      });
      await expect(writing).rejects.toThrow('undo');
    }
    const { status, body } = await respond(() =>
      dataSource.transaction(async () => {
        await dataSource.query('SET TRANSACTION READ ONLY');
        await add('x');
      }),
    );
    expect([status, body]).toMatchObject([500, { code: 'internal_error' }]);
    await add('c');
    expect([await names(), lines]).toEqual([['a', 'b', 'c'], []]);
  });

  it('that copies from a stream fails with the error of the server, and is no outage', async () => {
    const lines = outages();
    await expect(dataSource.query('COPY toys FROM STDIN')).rejects.toMatchObject({
      name: 'QueryFailedError',
      message: expect.stringContaining('COPY from stdin failed'),
    });
    await dataSource.transaction(async () => {
      await dataSource.query('COPY toys FROM STDIN').catch(() => undefined);
      await add('c');
    });
    expect([await names(), lines]).toEqual([['a', 'b', 'c'], []]);
  });

  it('by a stream of pg, such as that of pg-copy-streams, is refused in one sentence', async () => {
    const runner = dataSource.createQueryRunner();
    const client = (await runner.connect()) as { query(stream: object): unknown };
    expect(() => client.query({ submit: () => undefined })).toThrow('Connect a pg.Client');
    await runner.release();
  });
});

import {
  Column,
  Entity,
  type EntityManager,
  type EntitySubscriberInterface,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
  type Relation,
  Table,
} from 'typeorm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { JsonRows } from '../../../src/database/json-rows.js';
import { References } from '../../../src/database/references.js';
import { Pet } from '../../support/pets/pet.entity.js';
import { PetDto } from '../../support/pets/pets.dto.js';
import { ON_POSTGRES, withParameters } from '../../support/databases.js';
import { addedTable } from '../../support/added-table.js';
import { Toy, type Work, openMarket, undo, TIMELY } from '../../support/market.js';

/** Whose pages are loaded when they are asked for. */
@Entity('albums')
class Album {
  @PrimaryGeneratedColumn()
  id!: number;

  @OneToMany(() => Page, ({ album }) => album, { cascade: true })
  pages!: Promise<Relation<Page>[]>;
}

@Entity('album_pages')
class Page {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column('varchar', { length: 20 })
  text!: string;

  @ManyToOne(() => Album, ({ pages }) => pages)
  album!: Promise<Relation<Album>>;
}

const { service, dataSource, toys, transactions, frames, add, names } = await openMarket(
  [Album, Page].map(addedTable),
);
const rows = service.app.get(JsonRows);

/** Adds a subscriber as the documentation of Nest does, until the test ends. */
function subscribe(subscriber: EntitySubscriberInterface): void {
  dataSource.subscribers.push(subscriber);
  onTestFinished(() => void dataSource.subscribers.splice(dataSource.subscribers.indexOf(subscriber), 1));
}

describe.each(frames)('in %s', TIMELY, (_, run) => {
  it('the option `transaction` of find() and useTransaction() of a query builder take part', async () => {
    await expect(
      run(async () => {
        await add('a');
        expect(await toys.find({ transaction: true })).toHaveLength(1);
        expect((await toys.findAndCount({ transaction: true }))[1]).toBe(1);
        await toys.createQueryBuilder().insert().values({ name: 'b' }).useTransaction(true).execute();
        await toys.createQueryBuilder().update().set({ count: 2 }).useTransaction(true).execute();
        expect(await toys.countBy({ count: 2 })).toBe(2);
        undo();
      }),
    ).rejects.toThrow('undo');
    expect(await names()).toEqual([]);
  });

  it('a lazy relation takes part, and can be loaded later', async () => {
    const albums = dataSource.getRepository(Album);
    const later: Album[] = [];
    await run(async () => {
      const { id } = await albums.save(albums.create({}));
      const album = await albums.findOneByOrFail({ id });
      await dataSource.getRepository(Page).insert({ text: 'first', album: { id } as never });
      expect((await album.pages).map(({ text }) => text)).toEqual(['first']);
      later.push(await albums.findOneByOrFail({ id }));
    });
    expect((await later[0]?.pages)?.map(({ text }) => text)).toEqual(['first']);
  });

  it('JsonRows sees what was written, in nested ones too, and nobody else does', async () => {
    const pets = dataSource.getRepository(Pet);
    await pets.clear();
    const pet = (name: string) => pets.insert({ name, categoryId: 1n, status: 'sold' });
    const page = async () => {
      const { items } = await rows.page(Pet, PetDto, { limit: 9 });
      return (JSON.parse(items.text) as Pet[]).map(({ name }) => name);
    };
    await run(async () => {
      await pet('a');
      const nested = dataSource.transaction(async () => {
        await pet('x');
        expect(await page()).toEqual(['a', 'x']);
        undo();
      });
      await expect(nested).rejects.toThrow('undo');
      expect([await page(), await transactions.outside(page)]).toEqual([['a'], []]);
    });
    expect(await page()).toEqual(['a']);
  });

  it('References.write() that is refused leaves what came before', async () => {
    const references = service.app.get(References);
    await run(async () => {
      await add('a');
      const row = toys.create({ name: 'x', stall: { id: 999_999 } });
      await references.write(Toy, row, () => toys.insert(row)).catch(() => undefined);
      await add('b');
    });
    expect(await names()).toEqual(['a', 'b']);
  });

  it('subscribers get the `data` of each save(), of repository and manager, side by side', async () => {
    const received: string[] = [];
    subscribe({
      listenTo: () => Toy,
      afterInsert: async ({ entity, queryRunner }) => {
        await toys.count();
        received.push(`${(entity as Toy).name} ${String(queryRunner.data['by'])}`);
      },
    });
    const save = (name: string, how: 'repository' | 'manager') => {
      const options = { data: { by: `by ${name}` } };
      return how === 'manager'
        ? dataSource.manager.save(Toy, { name }, options)
        : toys.save(toys.create({ name }), options);
    };
    await run(() =>
      Promise.all(['a', 'b', 'c', 'd'].map((name, at) => save(name, at % 2 ? 'manager' : 'repository'))),
    );
    expect(received.toSorted()).toEqual(['a by a', 'b by b', 'c by c', 'd by d']);
  });

  it('the connection is as before when a statement ends the transaction by itself', async () => {
    for (const sql of ['ROLLBACK', 'ROLLBACK'])
      await run(async () => {
        await add('x');
        await dataSource.query(sql);
      }).catch(() => undefined);
    await dataSource.transaction(() => dataSource.transaction(() => add('a')));
    expect(await names()).toContain('a');
    await dataSource.transaction(() => add('y').then(undo)).catch(() => undefined);
    expect(await names()).not.toContain('y');
  });
});

describe('a table that is made in a transaction', TIMELY, () => {
  it('is undone with it, and stays if that was committed', async () => {
    const table = () =>
      new Table({ name: 'made', columns: [{ name: 'id', type: 'integer', isPrimary: true }] });
    for (const isCommitted of [false, true]) {
      const runner = dataSource.createQueryRunner();
      await runner.startTransaction();
      await runner.createTable(table());
      await runner.query('INSERT INTO made (id) VALUES (1)');
      await (isCommitted ? runner.commitTransaction() : runner.rollbackTransaction());
      expect(await runner.hasTable('made')).toBe(isCommitted);
      await runner.release();
    }
    onTestFinished(() => dataSource.query('DROP TABLE made'));
    expect(await dataSource.query('SELECT id FROM made')).toEqual([{ id: 1 }]);
  });
});

describe('the managers and runners of a transaction', TIMELY, () => {
  it('the manager of the outer one, used in a nested one, works in the nested one', async () => {
    await dataSource.transaction(async (outer) => {
      await outer
        .transaction(async () => {
          await outer.insert(Toy, { name: 'x' });
          await outer.save(Toy, { name: 'y' });
          undo();
        })
        .catch(() => undefined);
      await outer.insert(Toy, { name: 'a' });
    });
    expect(await names()).toEqual(['a']);
  });

  it('query() of the DataSource runs on a query runner that it is given', async () => {
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();
    await dataSource.query(withParameters('INSERT INTO toys (name) VALUES (?)'), ['x'], runner);
    expect(await dataSource.query('SELECT name FROM toys', [], runner)).toEqual([{ name: 'x' }]);
    await runner.rollbackTransaction();
    await runner.release();
    expect(await names()).toEqual([]);
  });

  it('createEntityManager() of the DataSource makes one that takes part', async () => {
    await dataSource
      .transaction(async () => {
        await dataSource.createEntityManager().insert(Toy, { name: 'x' });
        expect(await names()).toEqual(['x']);
        undo();
      })
      .catch(() => undefined);
    expect(await names()).toEqual([]);
  });

  it('transaction() of the manager of a runner by hand starts one, and again', async () => {
    const runner = dataSource.createQueryRunner();
    await runner.manager.transaction((manager) => manager.insert(Toy, { name: 'a' }));
    await runner.manager
      .transaction(async (manager) => {
        await manager.insert(Toy, { name: 'x' });
        undo();
      })
      .catch(() => undefined);
    expect(runner.isTransactionActive).toBe(false);
    await runner.manager.insert(Toy, { name: 'b' });
    await runner.release();
    expect(await names()).toEqual(['a', 'b']);
  });

  it.each<[string, (manager: EntityManager, name: string) => Promise<unknown>]>([
    ['save()', (manager, name) => manager.save(Toy, [{ name }, { name: `${name} too` }])],
    [
      'transaction()',
      (manager, name) =>
        manager.transaction(async (inner) => {
          await inner.insert(Toy, { name });
          await inner.insert(Toy, { name: `${name} too` });
        }),
    ],
  ])(
    '%s in parallel on one runner that has started nothing are done completely or not at all',
    async (_, write) => {
      await add('x too');
      const runner = dataSource.createQueryRunner();
      const ends = await Promise.allSettled(['a', 'x', 'b'].map((name) => write(runner.manager, name)));
      await runner.release();
      expect(ends.map(({ status }) => status === 'fulfilled')).toEqual([true, false, true]);
      expect(await names()).toEqual(['a', 'a too', 'b', 'b too', 'x too']);
    },
  );

  it('the `data` of its runner is what subscribers get by its manager', async () => {
    const received: unknown[] = [];
    subscribe({
      listenTo: () => Toy,
      afterInsert: ({ queryRunner }) => void received.push(queryRunner.data),
    });
    await dataSource.transaction(async (manager) => {
      Object.assign(manager.queryRunner?.data ?? {}, { user: 7 });
      await manager.insert(Toy, { name: 'a' });
      await manager.save(Toy, { name: 'b' });
    });
    expect(received).toEqual([{ user: 7 }, { user: 7 }]);
  });
});

describe.runIf(ON_POSTGRES)('a connection that is lost in a transaction', TIMELY, () => {
  const lose: Work = () => dataSource.query('SELECT pg_terminate_backend(pg_backend_pid())');
  const recovered = async () => {
    await expect.poll(() => names().catch(() => 'away'), { timeout: 30_000 }).toEqual([]);
  };
  const REFUSED = /cannot handle the request right now|^503 /;

  it.each(frames)('fails %s, of which nothing is left, and no other', async (_, run) => {
    await expect(
      run(async () => {
        await add('x');
        await lose().catch(() => undefined);
        await add('y').catch(() => undefined);
        await dataSource.transaction(() => add('z')).catch(() => undefined);
      }),
    ).rejects.toThrow(REFUSED);
    await recovered();
    await expect
      .poll(
        () =>
          add('a').then(
            () => 'done',
            () => 'away',
          ),
        { timeout: 30_000 },
      )
      .toBe('done');
  });

  it.each(ON_POSTGRES ? [[true], [false]] : [])(
    'fails a query runner, which can be released (%s)',
    async (rollsBack) => {
      const runner = dataSource.createQueryRunner();
      await runner.startTransaction();
      await runner.manager.insert(Toy, { name: 'x' });
      await runner.query('SELECT pg_terminate_backend(pg_backend_pid())').catch(() => undefined);
      await expect(runner.commitTransaction()).rejects.toThrow(REFUSED);
      if (rollsBack) await runner.rollbackTransaction().catch(() => undefined);
      await runner.release();
      expect(runner.isReleased).toBe(true);
      await recovered();
    },
  );
});

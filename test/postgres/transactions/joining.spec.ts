import { describe, expect, it } from 'vitest';
import { withParameters } from '../../support/databases.js';
import { Stall, Toy, openMarket, undo, TIMELY } from '../../support/market.js';

const { dataSource, toys, stalls, frames } = await openMarket();
const { manager } = dataSource;

const ball = () => toys.findOneByOrFail({ name: 'ball' });
const findDeleted = () => toys.findOneOrFail({ where: { name: 'gone' }, withDeleted: true });

/** What a team writes; each changes the toys `ball` and `gone`, of which `gone` is softly deleted, and the stall `north`. */
const VERBS: readonly (readonly [name: string, work: () => Promise<unknown>])[] = [
  ['insert() of a repository', () => toys.insert({ name: 'kite' })],
  ['insert() of several rows', () => toys.insert([{ name: 'kite' }, { name: 'drum' }])],
  ['save() of a new row', () => toys.save(toys.create({ name: 'kite' }))],
  ['save() of several rows', () => toys.save(['kite', 'drum'].map((name) => toys.create({ name })))],
  ['save() of a change', async () => toys.save(Object.assign(await ball(), { count: 7 }))],
  [
    'save() of a row with a relation',
    async () => toys.save(toys.create({ name: 'kite', stall: await stalls.findOneByOrFail({}) })),
  ],
  ['remove()', async () => toys.remove(await ball())],
  ['softRemove()', async () => toys.softRemove(await ball())],
  ['recover()', async () => toys.recover(await findDeleted())],
  ['update()', () => toys.update({ name: 'ball' }, { count: 7 })],
  ['delete()', () => toys.delete({ name: 'ball' })],
  ['clear()', () => toys.clear()],
  ['softDelete()', () => toys.softDelete({ name: 'ball' })],
  ['restore()', () => toys.restore({ name: 'gone' })],
  ['upsert()', () => toys.upsert([{ name: 'ball', count: 7 }, { name: 'kite' }], ['name'])],
  ['increment()', () => toys.increment({ name: 'ball' }, 'count', 2)],
  ['decrement()', () => toys.decrement({ name: 'ball' }, 'count', 2)],
  ['insert() of dataSource.manager', () => manager.insert(Toy, { name: 'kite' })],
  ['save() of dataSource.manager', () => manager.save(Toy, { name: 'kite' })],
  ['getRepository() of the DataSource', () => dataSource.getRepository(Toy).insert({ name: 'kite' })],
  [
    'a repository of a class of the team',
    () => toys.extend({ add: (name: string) => toys.insert({ name }) }).add('kite'),
  ],
  [
    'query() of the DataSource',
    () => dataSource.query(withParameters('INSERT INTO toys (name) VALUES (?)'), ['kite']),
  ],
  ['query() of a repository', () => toys.query(`UPDATE toys SET count = 7 WHERE name = 'ball'`)],
  [
    'an insert by a query builder',
    () => toys.createQueryBuilder().insert().values({ name: 'kite' }).execute(),
  ],
  [
    'an update by a query builder of the DataSource',
    () => dataSource.createQueryBuilder().update(Toy).set({ count: 7 }).where({ name: 'ball' }).execute(),
  ],
  [
    'a deletion by a query builder',
    () => dataSource.createQueryBuilder().delete().from(Toy).where({ name: 'ball' }).execute(),
  ],
  [
    'a soft deletion by a query builder',
    () => toys.createQueryBuilder().softDelete().where({ name: 'ball' }).execute(),
  ],
  [
    'a relation that a query builder adds',
    async () =>
      stalls
        .createQueryBuilder()
        .relation(Stall, 'toys')
        .of(await stalls.findOneByOrFail({}))
        .add((await ball()).id),
  ],
  [
    'query() of a query runner that has begun nothing',
    async () => {
      const runner = dataSource.createQueryRunner();
      await runner.query(`UPDATE toys SET count = 7 WHERE name = 'ball'`);
      await runner.release();
    },
  ],
];

/** All toys, with what can be changed of them. */
async function state(): Promise<string[]> {
  const all = await toys.find({ withDeleted: true, relations: { stall: true } });
  return all
    .map(({ name, count, deletedAt, stall }) => `${name} ${count} ${stall?.name} ${deletedAt !== null}`)
    .toSorted();
}

async function start(): Promise<string[]> {
  await stalls.insert({ name: 'north' });
  await toys.insert([{ name: 'ball', count: 5 }, { name: 'gone' }]);
  await toys.softDelete({ name: 'gone' });
  return state();
}

describe.each(frames)('in %s', TIMELY, (_, run) => {
  it.each(VERBS)('%s takes part: it is seen there, and committed or undone with it', async (_name, work) => {
    const before = await start();
    let within: string[] = [];
    const end = (outcome: () => void) => async () => {
      await work();
      within = await state();
      outcome();
    };
    await expect(run(end(undo))).rejects.toThrow('undo');
    expect(within).not.toEqual(before);
    expect(await state()).toEqual(before);
    await run(end(() => undefined));
    expect(await state()).toEqual(within);
  });
});

import { Module } from '@nestjs/common';
import {
  Column,
  CreateDateColumn,
  DeleteDateColumn,
  DataSource,
  Entity,
  Generated,
  LessThan,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { Int64Column, Int64Key } from '../../src/database/int64.js';
import { addedTable } from '../support/added-table.js';
import { ON_POSTGRES, withParameters } from '../support/databases.js';
import { openForAll } from '../support/opened.js';

@Entity('users')
class User {
  @Int64Key()
  id!: bigint;

  @Column('varchar', { unique: true })
  email!: string;

  @Int64Column({ default: 7 })
  points!: bigint;
}

@Entity('others')
class Other {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column('varchar', { unique: true })
  name!: string;

  @Column({ default: 3 })
  size!: number;
}

@Entity('tokens')
class Token {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column('varchar', { unique: true })
  name!: string;

  @CreateDateColumn()
  madeAt!: Date;

  @UpdateDateColumn()
  changedAt!: Date;

  @VersionColumn()
  version!: number;

  @Column('varchar')
  @Generated('uuid')
  code!: string;
}

@Entity('seats')
class Seat {
  @PrimaryColumn('varchar')
  row!: string;

  @PrimaryColumn('integer')
  place!: number;

  @Column('varchar', { default: 'free' })
  state!: string;
}

@Entity('notes')
class Note {
  @Int64Key()
  id!: bigint;

  @Int64Column({ name: 'user_id' })
  userId!: bigint;

  @Column('varchar')
  text!: string;

  @DeleteDateColumn({ name: 'deleted_at' })
  deletedAt!: Date | null;
}

@Module({ imports: [User, Other, Token, Seat, Note].map(addedTable) })
class UsersModule {}

const service = await openForAll({ modules: [UsersModule] });
const { manager } = service.app.get(DataSource);
const [users, others, tokens, seats] = [User, Other, Token, Seat].map((one) =>
  manager.getRepository<object>(one),
) as [
  import('typeorm').Repository<User>,
  import('typeorm').Repository<Other>,
  import('typeorm').Repository<Token>,
  import('typeorm').Repository<Seat>,
];

beforeEach(async () => {
  await Promise.all([users.clear(), others.clear(), tokens.clear(), seats.clear()]);
  await users.insert([{ email: 'a' }, { email: 'b' }]);
  // The last INSERT of the connection is one into another table.
  await others.insert({ name: 'z' });
});

const idOf = async (email: string) => (await users.findOneByOrFail({ email })).id;
const ignored = (rows: Partial<User>[]) =>
  users.createQueryBuilder().insert().values(rows).orIgnore().execute();

describe('an inserted entity has its own id, or none', () => {
  it('by upsert(), including existing rows', async () => {
    const [b, c] = [users.create({ email: 'b', points: 1n }), users.create({ email: 'c', points: 2n })];
    const { identifiers } = await users.upsert([b, c], ['email']);
    expect(identifiers).toEqual([{ id: await idOf('b') }, { id: await idOf('c') }]);
    expect([b, c]).toEqual(
      await users.find({ where: [{ email: 'b' }, { email: 'c' }], order: { id: 'ASC' } }),
    );
    await others.upsert({ name: 'z', size: 4 }, ['name']);
    const a = users.create({ email: 'a', points: 5n });
    expect((await users.upsert(a, ['email'])).identifiers).toEqual([{ id: await idOf('a') }]);
    expect(a).toEqual(await users.findOneByOrFail({ email: 'a' }));
  });

  it('by upsert() that changes nothing: none', async () => {
    const a = users.create({ email: 'a', points: 7n });
    const result = await users.upsert(a, { conflictPaths: ['email'], skipUpdateIfNoValuesChanged: true });
    expect([result.identifiers, a.id]).toEqual([[undefined], undefined]);
    await users.upsert(
      { email: 'a', points: 8n },
      { conflictPaths: ['email'], skipUpdateIfNoValuesChanged: true },
    );
    expect(await users.findOneBy({ email: 'a' })).toMatchObject({ points: 8n });
    await users
      .createQueryBuilder()
      .insert()
      .values([
        { email: 'a', points: 9n },
        { email: 'b', points: 9n },
      ])
      .orUpdate(['points'], ['email'], { overwriteCondition: { where: { points: LessThan(8n) } } })
      .execute();
    expect(await users.find({ order: { id: 'ASC' } })).toMatchObject([{ points: 8n }, { points: 9n }]);
  });

  it('by orIgnore()', async () => {
    const alone = users.create({ email: 'a' });
    const none = await ignored([alone]);
    expect([none.identifiers, alone.id, none.raw]).toEqual([[undefined], undefined, []]);
    const [a, d, b, e] = ['a', 'd', 'b', 'e'].map((email) => users.create({ email })) as [
      User,
      User,
      User,
      User,
    ];
    const some = await ignored([a, d, b, e]);
    for (const one of [a, d, b, e]) if (one.id !== undefined) expect(one.id).toBe(await idOf(one.email));
    expect([a.id, b.id]).toEqual([undefined, undefined]);
    expect(some.raw).toHaveLength(2);
    const all = await ignored([{ email: 'f' }, { email: 'g' }]);
    expect(all.identifiers).toEqual([{ id: await idOf('f') }, { id: await idOf('g') }]);
  });

  it('where some rows bring theirs', async () => {
    const rows = [{ email: 'c' }, { id: 50n, email: 'd' }, { email: 'e' }, { id: 40n, email: 'f' }].map(
      (row) => users.create(row),
    );
    const { identifiers, generatedMaps } = await users.insert(rows);
    const stored = await Promise.all(rows.map(({ email }) => users.findOneByOrFail({ email })));
    expect(rows).toEqual(stored);
    expect(identifiers).toEqual(stored.map(({ id }) => ({ id })));
    expect(generatedMaps).toEqual(stored.map(({ id }) => ({ id, points: 7n })));
    const saved = await users.save([
      { email: 'g' },
      { id: 60n, email: 'h' },
      { id: 40n, email: 'i' },
      { email: 'j' },
    ]);
    for (const one of saved) expect(one.id).toBe(await idOf(one.email));
    expect(await users.findOneBy({ id: 40n })).toMatchObject({ email: 'i' });
  });

  it('of other kinds of keys, with generated values', async () => {
    const other = others.create({ name: 'y' });
    expect((await others.insert(other)).identifiers).toEqual([{ id: other.id }]);
    const more = await others.save([{ name: 'x' }, { name: 'w', size: 9 }]);
    expect(more).toEqual(await others.find({ where: [{ name: 'x' }, { name: 'w' }], order: { id: 'ASC' } }));
    const token = await tokens.save({ name: 't' });
    expect(token).toEqual(await tokens.findOneByOrFail({ name: 't' }));
    const again = tokens.create({ name: 't' });
    await tokens.upsert(again, ['name']);
    expect((await tokens.findOneByOrFail({ name: 't' })).id).toBe(again.id);
    const seat = seats.create({ row: 'A', place: 1 });
    const { identifiers } = await seats.insert([seat, { row: 'A', place: 2, state: 'sold' }]);
    expect([seat.state, identifiers]).toEqual([
      'free',
      [
        { row: 'A', place: 1 },
        { row: 'A', place: 2 },
      ],
    ]);
    await seats.upsert({ row: 'A', place: 1, state: 'sold' }, ['row', 'place']);
    expect(await seats.countBy({ state: 'sold' })).toBe(2);
  });

  it('with a trigger that inserts into another table, or leaves rows out', async () => {
    const statements = ON_POSTGRES
      ? [
          `CREATE FUNCTION of_users() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            INSERT INTO others (name) VALUES (new.email);
            IF new.email LIKE 'no%' THEN RETURN NULL; END IF; RETURN new; END $$`,
          'CREATE TRIGGER of_users BEFORE INSERT ON users FOR EACH ROW EXECUTE FUNCTION of_users()',
        ]
      : [
          `CREATE TRIGGER of_users BEFORE INSERT ON users BEGIN
            INSERT INTO others (name) VALUES (new.email);
            SELECT RAISE(IGNORE) WHERE new.email LIKE 'no%'; END`,
        ];
    for (const sql of statements) await manager.query(sql);
    onTestFinished(() => manager.query(`DROP TRIGGER of_users${ON_POSTGRES ? ' ON users' : ''}`));
    const [k, no, l] = ['k', 'no', 'l'].map((email) => users.create({ email })) as [User, User, User];
    await users.insert([k, no, l]);
    expect(no.id).toBeUndefined();
    for (const one of [k, l]) if (one.id !== undefined) expect(one.id).toBe(await idOf(one.email));
    const m = await users.save({ email: 'm' });
    expect(m.id).toBe(await idOf('m'));
  });
});

describe('RETURNING', () => {
  it('returns rows from query()', async () => {
    const query = (sql: string, parameters: unknown[] = []) =>
      manager.query<unknown>(withParameters(sql), parameters);
    expect(await query(`INSERT INTO others (name) VALUES (?), ('r''') RETURNING name, size`, ['q'])).toEqual([
      { name: 'q', size: 3 },
      { name: "r'", size: 3 },
    ]);
    expect(await query(`INSERT INTO others (name) VALUES ('RETURNING')`)).toEqual([]);
    expect(await query(`UPDATE others SET size = 5 WHERE name IN ('q', 'z') RETURNING name`)).toEqual([
      [{ name: 'z' }, { name: 'q' }],
      2,
    ]);
    expect(await query(`UPDATE others SET size = 6 WHERE name <> 'RETURNING'`)).toEqual([[], 3]);
    expect(await query(`DELETE FROM others WHERE size = 6 RETURNING size`)).toEqual([
      [6, 6, 6].map((size) => ({ size })),
      3,
    ]);
    expect(await query(`DELETE FROM others`)).toEqual([[], 1]);
    expect(
      await manager.transaction((within) =>
        within.query(`INSERT INTO others (name) VALUES ('in') RETURNING size`),
      ),
    ).toEqual([{ size: 3 }]);
  });

  it.each([
    [`update others set size = 5 where name = 'z'`, [[], 1]],
    [`/* of a team */ UPDATE others SET size = 5 WHERE name = 'z' RETURNING name`, [[{ name: 'z' }], 1]],
    [`-- of a team\n  Delete from others`, [[], 1]],
    [
      `WITH one AS (SELECT ')' AS name) UPDATE others SET size = 5 WHERE name IN (SELECT 'z' FROM one)`,
      [[], 1],
    ],
    [
      `with one as (select (1) as n), two as (select n from one) delete from others where size > (select n from two) returning name`,
      [[{ name: 'z' }], 1],
    ],
    [`insert into others (name) values ('UPDATE ')`, []],
    [`/* DELETE */ WITH one AS (SELECT 'z' AS name) SELECT name FROM one`, [{ name: 'z' }]],
    [
      `WITH one AS (SELECT 'q' AS name) INSERT INTO others (name) SELECT name FROM one RETURNING name`,
      [{ name: 'q' }],
    ],
  ])('returns the same from query() in any notation: %s', async (sql, result) => {
    expect(await manager.query(sql)).toEqual(result);
    await others.clear();
    await others.insert({ name: 'z' });
    expect(await manager.transaction((within) => within.query(sql))).toEqual(result);
  });

  it('returns rows from a query builder', async () => {
    const inserted = await users
      .createQueryBuilder()
      .insert()
      .values({ email: 'n' })
      .returning(['email', 'points'])
      .execute();
    expect(inserted.raw).toEqual([{ email: 'n', points: '7', id: String(await idOf('n')) }]);
    const all = await users
      .createQueryBuilder()
      .insert()
      .values({ id: 2n ** 62n + 1n, email: 'o' })
      .returning('*')
      .execute();
    expect(all.raw).toEqual([{ id: String(2n ** 62n + 1n), email: 'o', points: '7' }]);
  });

  it('returns rows of UPDATE and DELETE from a query builder, with exact ids', async () => {
    const id = 2n ** 62n + 1n;
    const notes = () => manager.getRepository(Note).createQueryBuilder();
    await manager.insert(Note, [
      { id, userId: id, text: 'a' },
      { id: 1n, userId: 2n, text: 'b' },
    ]);
    const where = { id };
    const [key, row] = [{ id: String(id) }, { id: String(id), user_id: String(id) }];
    const changed = notes().update().set({ text: 'c' }).where(where);
    expect(await changed.returning(['id', 'userId', 'text']).execute()).toMatchObject({
      raw: [{ ...row, text: 'c' }],
      affected: 1,
    });
    expect((await changed.output('id, "user_id"').execute()).raw).toEqual([row]);
    expect((await changed.returning('upper(text) AS shown').execute()).raw).toEqual([{ shown: 'C' }]);
    expect((await changed.returning('*').execute()).raw).toEqual([{ ...row, text: 'c', deleted_at: null }]);
    const all = await notes().update().set({ userId: 3n }).returning('id').execute();
    expect(all).toMatchObject({ affected: 2, raw: expect.arrayContaining([key, { id: '1' }]) });
    expect((await notes().softDelete().where(where).returning(['id']).execute()).raw).toEqual([key]);
    expect((await notes().restore().where(where).returning('id, deleted_at').execute()).raw).toEqual([
      { ...key, deleted_at: null },
    ]);
    const deletion = manager.createQueryBuilder().delete().from(Note).where('text = :text', { text: 'c' });
    expect(await deletion.returning(['id', 'text']).execute()).toMatchObject({
      raw: [{ ...key, text: 'c' }],
      affected: 1,
    });
    expect(await deletion.execute()).toMatchObject({ raw: [], affected: 0 });
    expect(
      await manager.transaction((within) =>
        within.createQueryBuilder().delete().from(Note).returning('*').execute(),
      ),
    ).toMatchObject({ raw: [{ id: '1', user_id: '3', text: 'b' }], affected: 1 });
  });
});

it('an INSERT of more values than one statement allows inserts them all, in a transaction', async () => {
  const rows = Array.from({ length: 17_000 }, (_, place) => ({ row: 'B', place, state: `${place}` }));
  const { identifiers } = await manager.transaction((within) => within.insert(Seat, rows));
  expect([identifiers.length, await seats.count()]).toEqual([17_000, 17_000]);
  expect(identifiers.at(-1)).toEqual({ row: 'B', place: 16_999 });
});

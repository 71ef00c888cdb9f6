import { setTimeout as pause } from 'node:timers/promises';
import { Column, DataSource, Entity } from 'typeorm';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { DEFAULT_STATEMENT_TIMEOUT_MS } from '../../src/core/config/database-url.js';
import type { Database } from '../../src/database/database.js';
import { Int64Key } from '../../src/database/int64.js';
import { addedTable } from '../support/added-table.js';
import { ON_POSTGRES } from '../support/databases.js';
import { Pet } from '../support/pets/pet.entity.js';
import { UNLIMITED, openForAll } from '../support/opened.js';

@Entity('tools')
class Tool {
  @Int64Key()
  id!: bigint;

  @Column('varchar', { length: 40, unique: true })
  name!: string;

  /** The entity declares no default; a migration may have given the column one. */
  @Column('integer', { nullable: true })
  count?: number | null;
}

const service = await openForAll({
  modules: [addedTable(Tool)],
  database: 'file',
  environment: { DATABASE_STATEMENT_TIMEOUT_MS: String(DEFAULT_STATEMENT_TIMEOUT_MS) },
  ...UNLIMITED,
});
const database = service.app.get(DataSource) as Database;
const tools = database.getRepository(Tool);
const pet = { name: 'Rex', categoryId: 1n, status: 'sold' as const };

describe('concurrent inserts', () => {
  afterEach(() => tools.clear());

  it('among which one violates a constraint are committed in few statements', async () => {
    await tools.insert({ name: 'taken' });
    const statements = vi.spyOn(database, 'autocommit');
    const names = Array.from({ length: 400 }, (_, at) => (at === 123 ? 'taken' : `tool ${at}`));
    const results = await Promise.allSettled(names.map((name) => tools.insert({ name })));
    expect(results.flatMap(({ status }, at) => (status === 'rejected' ? [at] : []))).toEqual([123]);
    expect(await tools.count()).toBe(400);
    // Two for each halving of 400, and one for all.
    expect(statements.mock.calls.length).toBeLessThan(20);
    statements.mockRestore();
  });

  it.runIf(ON_POSTGRES)(
    'leave columns without a value to the default of the table, as TypeORM does',
    async () => {
      await database.query('ALTER TABLE tools ALTER COLUMN count SET DEFAULT 7');
      try {
        await Promise.all([
          tools.insert({ name: 'a' }),
          tools.insert({ name: 'b', count: null }),
          tools.insert({ name: 'c', count: 2 }),
          tools.insert({ name: 'd' }),
          tools.createQueryBuilder().insert().values({ name: 'e' }).execute(),
        ]);
        const stored = await tools.find({ order: { name: 'ASC' } });
        expect(stored.map(({ name, count }) => [name, count])).toEqual([
          ['a', 7],
          ['b', null],
          ['c', 2],
          ['d', 7],
          ['e', 7],
        ]);
      } finally {
        await database.query('ALTER TABLE tools ALTER COLUMN count DROP DEFAULT');
      }
    },
  );

  it.runIf(ON_POSTGRES)('that wait for a lock on one table delay no inserts into others', async () => {
    const runner = database.createQueryRunner();
    await runner.startTransaction();
    try {
      await runner.query('LOCK TABLE tools IN SHARE MODE');
      const blocked = Promise.allSettled(['x', 'y', 'z'].map((name) => tools.insert({ name })));
      const others = async (): Promise<string> => {
        for (let at = 0; at < 50; at += 1) await database.getRepository(Pet).insert({ ...pet });
        return 'others';
      };
      expect(await Promise.race([others(), blocked.then(() => 'blocked')])).toBe('others');
      expect(new Set((await blocked).map(({ status }) => status))).toEqual(new Set(['rejected']));
      await database.getRepository(Pet).insert({ ...pet });
    } finally {
      await runner.rollbackTransaction();
      await runner.release();
    }
    await tools.insert({ name: 'x' });
  });

  it.runIf(ON_POSTGRES)(
    'that wait long for a statement that times out are refused with it, those that arrive later are not',
    async () => {
      const runner = database.createQueryRunner();
      await runner.startTransaction();
      try {
        await runner.query(`INSERT INTO tools (name) VALUES ('held')`);
        const insert = (name: string) =>
          tools.insert({ name }).then(
            () => `${name} stored`,
            () => `${name} refused`,
          );
        const held = insert('held');
        const waiting = 'SELECT count(*) > 0 AS waits FROM pg_locks WHERE NOT granted';
        await expect.poll(() => database.reader.first(waiting, [])).toEqual({ waits: true });
        const early = insert('early');
        await pause(DEFAULT_STATEMENT_TIMEOUT_MS - 100);
        const late = insert('late');
        expect(await Promise.all([held, early, late])).toEqual([
          'held refused',
          'early refused',
          'late stored',
        ]);
      } finally {
        await runner.rollbackTransaction();
        await runner.release();
      }
    },
  );
});

import pg from 'pg';
import { Column, Entity, Index, type QueryRunner, Table, TableColumn, TableIndex } from 'typeorm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDataSource } from '../../src/database/data-source.js';
import type { Database } from '../../src/database/database.js';
import { Int64Key } from '../../src/database/int64.js';
import { type Migration, migrate, migrateInside, schemaDifference } from '../../src/database/schema.js';
import type { Tables } from '../../src/database/tables.module.js';
import { makeDatabase } from '../kit/test-database.js';
import { ON_POSTGRES } from '../support/databases.js';
import { NetworkProxy } from '../support/network-proxy.js';

@Entity('gadgets')
@Index('gadgets_colour', ['colour'], { concurrent: true })
class Gadget {
  @Int64Key()
  id!: bigint;

  @Column('varchar', { length: 20, nullable: true })
  colour!: string | null;
}

class Gadgets1795500000001 implements Migration {
  async up(runner: QueryRunner): Promise<void> {
    const { columns } = Table.create(runner.connection.getMetadata(Gadget), runner.connection.driver);
    await runner.createTable(
      new Table({ name: 'gadgets', columns: columns.filter(({ name }) => name === 'id') }),
    );
  }

  down(runner: QueryRunner): Promise<void> {
    return runner.dropTable('gadgets');
  }
}

class GadgetsColour1795500000002 implements Migration {
  up(runner: QueryRunner): Promise<void> {
    return runner.addColumn(
      'gadgets',
      new TableColumn({ name: 'colour', type: 'varchar', length: '20', isNullable: true }),
    );
  }

  down(runner: QueryRunner): Promise<void> {
    return runner.dropColumn('gadgets', 'colour');
  }
}

const INDEX = new TableIndex({ name: 'gadgets_colour', columnNames: ['colour'], isConcurrent: true });

/** As the guide shows it. */
class GadgetsIndex1795500000003 implements Migration {
  readonly transaction = false;

  up(runner: QueryRunner): Promise<void> {
    return runner.createIndex('gadgets', INDEX);
  }

  down(runner: QueryRunner): Promise<void> {
    return runner.dropIndex('gadgets', INDEX);
  }
}

/** As TypeORM's documentation shows it. */
class GadgetsSql1795500000003 implements Migration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE INDEX CONCURRENTLY gadgets_colour ON gadgets (colour)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY gadgets_colour');
  }
}

class Unique1795500000003 implements Migration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE UNIQUE INDEX CONCURRENTLY "gadgets_colour" ON "public"."gadgets" (colour)');
  }

  async down(): Promise<void> {}
}

class Fails1795500000004 implements Migration {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`INSERT INTO gadgets (colour) VALUES ('lost')`);
    throw new Error('It fails.');
  }

  async down(): Promise<void> {}
}

const TABLE = [Gadgets1795500000001, GadgetsColour1795500000002];

/** A database of these migrations, opened as the command line opens it. */
async function opened(databaseUrl: string, ...migrations: Tables['migrations'][number][]): Promise<Database> {
  const tables = { entities: [Gadget], migrations: [...TABLE, ...migrations] };
  const database = await openDataSource({ databaseUrl }, { isUnlimited: true, tables });
  onTestFinished(() => database.destroy());
  return database;
}

async function databaseOfTest(): Promise<string> {
  const { url, remove } = await makeDatabase(ON_POSTGRES ? 'postgres' : 'file');
  onTestFinished(remove);
  return url;
}

const VALID = `SELECT bool_and(indisvalid) AS valid FROM pg_index WHERE indexrelid = to_regclass('gadgets_colour')`;

/** Whether the index exists and is valid. */
async function isBuilt(database: Database): Promise<boolean> {
  if (!ON_POSTGRES)
    return (
      (await database.query<unknown[]>(`SELECT 1 FROM sqlite_master WHERE name = 'gadgets_colour'`)).length >
      0
    );
  return (await database.query<{ valid: boolean | null }[]>(VALID))[0]?.valid === true;
}

it('a migration without a transaction creates an index, is reverted and run again', async () => {
  const database = await opened(await databaseOfTest(), GadgetsIndex1795500000003);
  expect(await migrate(database)).toEqual([
    'Gadgets1795500000001',
    'GadgetsColour1795500000002',
    'GadgetsIndex1795500000003',
  ]);
  expect(await isBuilt(database)).toBe(true);
  expect(await schemaDifference(database)).toEqual([]);
  await database.undoLastMigration();
  expect(await isBuilt(database)).toBe(false);
  expect(await migrate(database)).toEqual(['GadgetsIndex1795500000003']);
  for (const _ of [1, 2, 3]) await database.undoLastMigration();
  expect(await database.query(`SELECT name FROM schema_migrations`)).toEqual([]);
});

it('a migration that fails undoes those of its transaction', async () => {
  const database = await opened(await databaseOfTest(), GadgetsIndex1795500000003, Fails1795500000004);
  await expect(migrate(database)).rejects.toThrow('It fails.');
  const ran = await database.query<unknown[]>('SELECT name FROM schema_migrations ORDER BY timestamp');
  expect(ran).toHaveLength(ON_POSTGRES ? 3 : 0);
  if (ON_POSTGRES) expect(await database.query('SELECT colour FROM gadgets')).toEqual([]);
});

it('the index of a new table, and one within the transaction of a caller, are plain', async () => {
  const database = await opened(await databaseOfTest(), GadgetsIndex1795500000003);
  await database.transaction(() => migrateInside(database));
  expect(await isBuilt(database)).toBe(true);
  for (const _ of [1, 2, 3]) await database.undoLastMigration();
  const runner = database.createQueryRunner();
  await runner.startTransaction();
  await runner.createTable(Table.create(database.getMetadata(Gadget), database.driver));
  await runner.commitTransaction();
  await runner.release();
  expect(await isBuilt(database)).toBe(true);
});

describe.runIf(ON_POSTGRES)('on PostgreSQL', () => {
  /** A database with the table, and a session alongside it. */
  async function withTable() {
    const url = await databaseOfTest();
    await migrate(await opened(url));
    const session = new pg.Client({ connectionString: url });
    await session.connect();
    onTestFinished(() => session.end());
    const builds = async () => {
      const { rows } = await session.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity WHERE query LIKE 'CREATE%INDEX CONCURRENTLY%' AND state = 'active'
         AND wait_event_type = 'Lock' AND datname = current_database()`,
      );
      return rows.map(({ pid }) => pid);
    };
    /** Whether an instance waits for what the server makes for one that was killed. */
    const countBuilds = async () => {
      const query = `SELECT FROM pg_stat_activity WHERE query LIKE '%"isBusy"%' AND pid <> pg_backend_pid()`;
      return ((await session.query(query)).rowCount ?? 0) > 0;
    };
    /** Until `end` is called, what makes an index waits for a transaction that has written to the table. */
    const hold = async () => {
      const writer = new pg.Client({ connectionString: url });
      await writer.connect();
      await writer.query(`BEGIN; INSERT INTO gadgets (colour) VALUES ('red')`);
      return async () => {
        await writer.query('COMMIT');
        await writer.end();
      };
    };
    return { url, session, builds, looks: countBuilds, hold };
  }

  it('writes continue while the index is created, and one of two instances that start together creates it', async () => {
    const { url, session, builds, hold } = await withTable();
    const end = await hold();
    const both = await Promise.all([1, 2].map(() => opened(url, GadgetsIndex1795500000003)));
    const started = both.map((one) => migrate(one));
    await expect.poll(builds).toHaveLength(1);
    await session.query(`SET lock_timeout = 1000; INSERT INTO gadgets (colour) VALUES ('blue')`);
    await end();
    expect((await Promise.all(started)).flat()).toEqual(['GadgetsIndex1795500000003']);
    expect(await isBuilt(both[0] as Database)).toBe(true);
  });

  it.each([
    ['createIndex()', GadgetsIndex1795500000003],
    ['SQL', GadgetsSql1795500000003],
  ])('one that was killed while the server created the index by %s is run again', async (how, migration) => {
    const { url, session, builds, looks: countBuilds, hold } = await withTable();
    for (const isEndedByServer of [true, false]) {
      const end = await hold();
      const proxy = await NetworkProxy.to(Number(new URL(url).port || 5432));
      const through = new URL(url);
      through.port = String(proxy.port);
      const killed = migrate(await opened(through.href, migration));
      const refused = expect(killed).rejects.toThrow('cannot handle the request right now');
      await expect.poll(builds).toHaveLength(1);
      const [pid] = await builds();
      await proxy.close();
      await refused;
      if (isEndedByServer) {
        await session.query('SELECT pg_terminate_backend($1)', [pid]);
        await expect.poll(builds).toEqual([]);
        await end();
        expect((await session.query(VALID)).rows).toEqual([{ valid: false }]);
      }
      const database = await opened(url, migration);
      const again = migrate(database);
      if (!isEndedByServer) {
        await expect.poll(countBuilds).toBe(true);
        await end();
      }
      // What says CREATE without IF NOT EXISTS is taken at its word: the server has made the index by itself.
      if (!isEndedByServer && how === 'SQL') await expect(again).rejects.toThrow('already exists');
      else expect(await again).toEqual([migration.name]);
      expect(await isBuilt(database)).toBe(true);
      if (isEndedByServer) await database.undoLastMigration();
    }
  });

  it('a unique index that rows do not allow is removed', async () => {
    const { url, session } = await withTable();
    await session.query(`INSERT INTO gadgets (colour) VALUES ('red'), ('red')`);
    const database = await opened(url, Unique1795500000003);
    await expect(migrate(database)).rejects.toThrow('could not create unique index "gadgets_colour"');
    expect((await session.query(VALID)).rows).toEqual([{ valid: null }]);
    await session.query('DELETE FROM gadgets WHERE id = 1');
    expect(await migrate(database)).toEqual(['Unique1795500000003']);
    expect(await isBuilt(database)).toBe(true);
  });

  it('an index of another table by that name is left as it is', async () => {
    const { url, session } = await withTable();
    await session.query('CREATE TABLE others (id int); CREATE INDEX gadgets_colour ON others (id)');
    await expect(migrate(await opened(url, GadgetsIndex1795500000003))).rejects.toThrow(
      'The index gadgets_colour belongs to a table other than "gadgets".',
    );
  });

  it('SQL within the transaction of a caller creates a plain one, and in a migration with a transaction fails', async () => {
    const database = await opened(await databaseOfTest(), GadgetsSql1795500000003);
    await database.transaction(() => migrateInside(database));
    expect(await isBuilt(database)).toBe(true);
    await database.undoLastMigration();
    class InTransaction1795500000003 extends GadgetsSql1795500000003 {
      override readonly transaction = true as never;
    }
    const other = await opened(await databaseOfTest(), InTransaction1795500000003);
    await expect(migrate(other)).rejects.toThrow('cannot run inside a transaction block');
  });
});

import { access } from 'node:fs/promises';
import { shownDatabaseUrl } from '../../core/config/database-url.js';
import { openDataSource } from '../data-source.js';
import type { Database } from '../database.js';
import { migrateInside } from '../schema.js';
import { quoted } from '../dialect.js';
import type { Connection } from '../sqlite/connection.js';
import { readUntouched } from '../sqlite/read-untouched.js';
import { naming } from '../sqlite/troubles/sqlite-errors.js';
import { COPY_SESSION, CopyCheck, type CopyOrder, HERE } from './copy-check.js';
import { DatabaseRefusal, refuseServed } from './refusal.js';
import { TableCopy, type TargetColumn, reasonOf } from './table-copy.js';

/** A table that was copied. */
export interface CopiedTable {
  readonly name: string;
  readonly rows: number;
  /** The last id that was given: the next one is larger; null for a table that numbers nothing. */
  readonly lastId: bigint | null;
}

/** What was copied. */
export interface CopyReport {
  readonly rows: number;
  readonly tables: readonly CopiedTable[];
}

/** SQLite's instants are in UTC; and the server may limit how long a transaction waits or works. */
const SETTINGS = `SET LOCAL TIME ZONE 'UTC'; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0;
  SET LOCAL lock_timeout = 10000`;

const FOREIGN_KEYS = `SELECT conrelid::regclass::text AS table, quote_ident(conname) AS name, pg_get_constraintdef(oid) AS definition
  FROM pg_constraint WHERE connamespace = ${HERE} AND contype = 'f' AND conparentid = 0`;

/**
 * Copies an SQLite file into an empty PostgreSQL database, in one transaction there: whatever ends it before its COMMIT leaves the
 * database as it was. Throws DatabaseRefusal that says why, and what to do.
 */
export async function copyDatabase(order: CopyOrder): Promise<CopyReport> {
  const { file, target: settings } = order;
  await access(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT')
      throw new DatabaseRefusal(`${file} is not there. Name the file with --from.`);
  });
  await refuseServed(file, 'copy');
  return naming(file, () =>
    readUntouched(file, async (source) => {
      const target = await openDataSource(settings, { isPatient: true, sessionName: COPY_SESSION }).catch(
        (error: unknown) => {
          throw new DatabaseRefusal((error as Error).message.replaceAll('DATABASE_URL', '--to'), {
            cause: error,
          });
        },
      );
      try {
        return await new DatabaseCopy(order, source, target).run();
      } finally {
        await target.destroy();
      }
    }),
  );
}

/** A copy, in the transactions of both databases. */
class DatabaseCopy {
  private readonly check: CopyCheck;

  constructor(
    private readonly order: CopyOrder,
    private readonly source: Connection,
    private readonly target: Database,
  ) {
    this.check = new CopyCheck(order, source, target);
  }

  async run(): Promise<CopyReport> {
    const version = await this.version();
    await this.source.all('BEGIN');
    await this.check.checkMigrations();
    await this.check.refuseInstances();
    let isWhole = false;
    try {
      return await this.target.transaction(async () => {
        const report = await this.copy();
        await this.source.all('COMMIT');
        if ((await this.version()) !== version)
          throw new DatabaseRefusal(
            `${this.order.file} was written to during the copy. Stop what writes, then copy.`,
          );
        isWhole = true;
        return report;
      });
    } catch (error) {
      throw error instanceof DatabaseRefusal ? error : this.failure(error, isWhole);
    }
  }

  private async copy(): Promise<CopyReport> {
    const { target } = this;
    await target.query(SETTINGS);
    // Instances that start now wait until all is there.
    if (!(await target.transactions.tryToClaim('migrations')))
      throw new DatabaseRefusal(
        `Another copy into ${this.name}, or a migration of it, runs. Wait for its end.`,
      );
    const names = await this.check.ownTables();
    await this.check.refuseData(names);
    await migrateInside(target);
    const tables = await this.check.tablesToCopy(names);
    // Taken off, so that tables need no order; what puts them back checks all rows.
    const foreignKeys =
      await target.query<{ table: string; name: string; definition: string }[]>(FOREIGN_KEYS);
    for (const { table, name } of foreignKeys)
      await target.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
    // Migrations may have written rows, which are among those of the source.
    await target.query(`TRUNCATE ${[...tables.keys()].map(quoted).join(', ')}`);
    const counts = await this.copyRows(tables);
    for (const { table, name, definition } of foreignKeys)
      await target.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`);
    const copied: CopiedTable[] = [];
    for (const [name, columns] of tables) {
      const rows = counts.get(name) ?? 0;
      await this.compare(name, rows);
      copied.push({ name, rows, lastId: await this.goOnBehindIds(name, columns) });
      await target.query(`ANALYZE ${quoted(name)}`);
    }
    return { rows: copied.reduce((sum, { rows }) => sum + rows, 0), tables: copied };
  }

  private async copyRows(
    tables: ReadonlyMap<string, readonly TargetColumn[]>,
  ): Promise<ReadonlyMap<string, number>> {
    const { source, target, order } = this;
    const counts = new Map<string, number>();
    for (const name of tables.keys())
      counts.set(name, Number((await source.texts(`SELECT count(*) FROM ${quoted(name)}`))[0]));
    const of = [...counts.values()].reduce((sum, count) => sum + count, 0);
    let done = 0;
    const tick = (rows: number): void => {
      done += rows;
      order.tell({ phase: 'Copying', done, of });
      if (order.signal.aborted) throw new DatabaseRefusal('Interrupted. Nothing was copied.');
    };
    tick(0);
    for (const [name, columns] of tables) await (await TableCopy.of(source, target, name, columns)).run(tick);
    return counts;
  }

  private async compare(name: string, rows: number): Promise<void> {
    const [found] = await this.target.query<{ rows: string }[]>(
      `SELECT count(*) AS rows FROM ${quoted(name)}`,
    );
    if (Number(found?.rows) === rows) return;
    throw new DatabaseRefusal(
      `${name} has ${rows} rows in SQLite, and ${found?.rows} in PostgreSQL: the file is damaged, or a trigger changes rows. Nothing was copied.`,
    );
  }

  /** SQLite remembers the ids of deleted rows, too, and goes on from what is larger ("SQLite Autoincrement"). */
  private async goOnBehindIds(name: string, columns: readonly TargetColumn[]): Promise<bigint | null> {
    const column = columns.find(({ sequence }) => sequence !== null);
    if (!column) return null;
    const keeps = await this.source.texts(`SELECT name FROM sqlite_master WHERE name = 'sqlite_sequence'`);
    const [remembered = null] =
      keeps.length === 0
        ? []
        : await this.source.texts('SELECT CAST(seq AS TEXT) FROM sqlite_sequence WHERE name = ?', [name]);
    const [set] = await this.target.query<{ last: string }[]>(
      `SELECT setval($1::regclass, last) AS last
       FROM (SELECT greatest($2::bigint, (SELECT max(${quoted(column.name)}) FROM ${quoted(name)})) AS last) AS ids WHERE last > 0`,
      [column.sequence, remembered],
    );
    return set ? BigInt(set.last) : null;
  }

  /** A commit in another connection changes it, but not within a transaction of this one. */
  private async version(): Promise<string | undefined> {
    return (await this.source.texts('PRAGMA data_version'))[0];
  }

  private failure(error: unknown, isWhole: boolean): DatabaseRefusal {
    const state = isWhole
      ? 'Whether it was committed is not known. Copy again: if the database has data, it is all there.'
      : 'Nothing was copied.';
    return new DatabaseRefusal(`${this.name}: ${reasonOf(error)}. ${state}`, { cause: error });
  }

  private get name(): string {
    return shownDatabaseUrl(this.order.target.databaseUrl);
  }
}

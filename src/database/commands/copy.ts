import { setTimeout as pause } from 'node:timers/promises';
import { redactedDatabaseUrl } from '../../core/config/database-url.js';
import { type DatabaseSettings, EXPANSIONS_TABLE, MIGRATIONS_TABLE, openDataSource } from '../data-source.js';
import type { Database } from '../database.js';
import { compareMigrations, migrateInside } from '../schema.js';
import { quoted } from '../dialect.js';
import type { Connection } from '../sqlite/connection.js';
import { ServerLock } from '../sqlite/server-lock.js';
import { exists, withReadOnlyConnection } from '../sqlite/read-only-file.js';
import { withFileErrors } from '../sqlite/availability/sqlite-errors.js';
import { Refusal } from '../../core/refusal.js';
import { type TargetColumn, copyTable, reasonOf } from './table-copy.js';

/** Options of a copy to PostgreSQL. */
export interface CopyOptions {
  readonly file: string;
  readonly target: DatabaseSettings;
  /** Tables of the source to skip, which no migration creates. */
  readonly excludedTables: readonly string[];
  /** Stops it between two batches. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: { phase: string; done: number; of: number }) => void;
}

/** Result of a copy to PostgreSQL. */
export interface CopyReport {
  readonly rows: number;
  readonly tables: readonly {
    readonly name: string;
    readonly rows: number;
    /** The last assigned id; null for a table without generated ids. */
    readonly lastId: bigint | null;
  }[];
}

/** Number and interval, in milliseconds, of checks for other sessions, which take a moment to end. */
const [CHECKS, CHECK_MS] = [12, 250];
/** application_name of the sessions of a copy. */
const SESSION = 'petstore, copy';
/** Each database keeps its own migration tables; `instance_notices` is obsolete. */
const NOT_COPIED = new Set([MIGRATIONS_TABLE, EXPANSIONS_TABLE, 'typeorm_metadata', 'instance_notices']);

/** Instances and commands identify themselves by application_name. */
const OTHER_SESSIONS = `SELECT count(*)::int AS count FROM pg_stat_activity
  WHERE datname = current_database() AND application_name LIKE 'petstore%' AND application_name <> '${SESSION}'`;
/** Timestamps in SQLite are in UTC, and the server may limit the duration of statements and transactions. */
const SETTINGS = `SET LOCAL TIME ZONE 'UTC'; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0;
  SET LOCAL lock_timeout = 10000`;
const COLUMNS = `SELECT a.attname AS name, t.typcategory = 'S' AS "isText", format_type(t.oid, -1) AS type,
    format_type(t.oid, a.atttypmod) AS "fullType", pg_get_serial_sequence($1, a.attname) AS sequence
  FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
  WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' ORDER BY a.attnum`;
const FOREIGN_KEYS = `SELECT conrelid::regclass::text AS table, quote_ident(conname) AS name, pg_get_constraintdef(oid) AS definition
  FROM pg_constraint WHERE connamespace = current_schema()::regnamespace AND contype = 'f' AND conparentid = 0`;

/**
 * Copies an SQLite file into an empty PostgreSQL database in one transaction, so that a failure before its COMMIT leaves the database
 * unchanged. Throws Refusal with the reason and the remedy.
 */
export async function copyDatabase(options: CopyOptions): Promise<CopyReport> {
  const { file, target: settings } = options;
  if (!(await exists(file))) throw new Refusal(`${file} does not exist. Name the file with --from.`);
  const lock = await ServerLock.withExistingFile(file, 'copy');
  try {
    return await withFileErrors(file, () =>
      withReadOnlyConnection(file, (source) => copyInto(settings, options, source)),
    );
  } finally {
    await lock?.release();
  }
}

async function copyInto(
  settings: DatabaseSettings,
  options: CopyOptions,
  source: Connection,
): Promise<CopyReport> {
  const openOptions = { isUnlimited: true, sessionName: SESSION };
  const target = await openDataSource(settings, openOptions).catch((error: Error) => {
    throw new Refusal(error.message.replaceAll('DATABASE_URL', '--to'), { cause: error });
  });
  try {
    return await new DatabaseCopy(options, source, target).run();
  } finally {
    await target.destroy();
  }
}

class DatabaseCopy {
  private readonly name: string;

  constructor(
    private readonly options: CopyOptions,
    private readonly source: Connection,
    private readonly target: Database,
  ) {
    this.name = redactedDatabaseUrl(options.target.databaseUrl);
  }

  async run(): Promise<CopyReport> {
    const version = await this.version();
    await this.source.all('BEGIN');
    await this.checkMigrations();
    await this.refuseInstances();
    let state = 'Nothing was copied.';
    try {
      return await this.target.transaction(async () => {
        const report = await this.copy();
        await this.source.all('COMMIT');
        if ((await this.version()) !== version)
          throw this.refusal('was written to during the copy. Stop the writer, then copy.');
        state =
          'It is unknown whether the copy was committed. Copy again. If this fails because the database already has data, the copy is complete.';
        return report;
      });
    } catch (error) {
      if (error instanceof Refusal) throw error;
      throw new Refusal(`${this.name}: ${reasonOf(error)}. ${state}`, { cause: error });
    }
  }

  private async copy(): Promise<CopyReport> {
    const { source, target, options } = this;
    await target.query(SETTINGS);
    // Instances that start now wait until the copy is complete.
    if (!(await target.transactions.tryLock('migrations')))
      throw new Refusal(
        `Another copy into ${this.name}, or a migration of it, is running. Wait until it has finished.`,
      );
    const names = await this.tableNames();
    for (const name of names) await this.refuseData(name);
    await migrateInside(target);
    const tables = new Map<string, readonly TargetColumn[]>();
    for (const name of names) tables.set(name, await this.matchingColumns(name));
    // Foreign keys are dropped so that the order of tables does not matter; restoring them checks all rows.
    const foreignKeys =
      await target.query<{ table: string; name: string; definition: string }[]>(FOREIGN_KEYS);
    for (const { table, name } of foreignKeys)
      await target.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
    // Migrations may have inserted rows that the source also contains.
    await target.query(`TRUNCATE ${names.map(quoted).join(', ')}`);
    const counts = names.map((name) => `(SELECT count(*) FROM ${quoted(name)})`);
    let done = 0;
    const of = Number((await source.texts(`SELECT ${counts.join(' + ')}`))[0]);
    const onRows = (rows: number): void => {
      done += rows;
      options.onProgress({ phase: 'Copying', done, of });
      if (options.signal.aborted) throw new Refusal('Interrupted. Nothing was copied.');
    };
    onRows(0);
    const copied: CopyReport['tables'][number][] = [];
    for (const [name, columns] of tables) {
      const rows = await copyTable(source, target, name, columns, onRows);
      await this.compare(name, rows);
      copied.push({ name, rows, lastId: await this.continueSequence(name, columns) });
      await target.query(`ANALYZE ${quoted(name)}`);
    }
    if (done !== of) throw this.refusal('is corrupted: its indexes and tables have different rows.');
    for (const { table, name, definition } of foreignKeys)
      await target.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`);
    return { rows: done, tables: copied };
  }

  /** Throws unless the source has run exactly the migrations that this build declares. */
  private async checkMigrations(): Promise<void> {
    const { source, options, target } = this;
    if (!(await source.texts('SELECT name FROM sqlite_master')).includes(MIGRATIONS_TABLE))
      throw this.refusal('is not the database of this service. Name its file with --from.');
    const { unknown, pending } = compareMigrations(
      target,
      await source.texts(`SELECT name FROM ${MIGRATIONS_TABLE} ORDER BY timestamp`),
    );
    if (unknown.length > 0)
      throw this.refusal(
        `was migrated by a newer version of the service (${unknown.join(', ')}), or with a module that was removed. Copy it with that ` +
          'version, or add the module again.',
      );
    if (pending.length > 0)
      throw this.refusal(
        `lacks migrations (${pending.join(', ')}). Run "DATABASE_URL=sqlite:${options.file} petstore db migrate", then copy.`,
      );
  }

  /** Called before the transaction, within which PostgreSQL would keep showing the sessions that existed at its start. */
  private async refuseInstances(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const [found] = await this.target.query<{ count: number }[]>(OTHER_SESSIONS);
      if (found?.count === 0) return;
      if (attempt === CHECKS)
        throw new Refusal(
          `An instance or a command of the service is connected to ${this.name} (connections: ${found?.count}). Stop it, then copy.`,
        );
      await pause(CHECK_MS);
    }
  }

  /** The tables to copy, which must include every declared table. */
  private async tableNames(): Promise<string[]> {
    const { source, target, options } = this;
    const existing = await source.tables();
    const missing = options.excludedTables.find((name) => !existing.includes(name));
    if (missing !== undefined) throw this.refusal(`has no table ${missing}, although --leave-out names it.`);
    const names = existing.filter((name) => !NOT_COPIED.has(name) && !options.excludedTables.includes(name));
    const uncopied = target.entityMetadatas
      .map(({ tableName }) => tableName)
      .find((name) => !names.includes(name) && !NOT_COPIED.has(name));
    if (uncopied === undefined) return names;
    throw this.refusal(
      `cannot be copied: the table ${uncopied} belongs to the service, and is not in the copy.`,
    );
  }

  /** Locks an existing table until the end of the copy and refuses it unless it is empty. */
  private async refuseData(name: string): Promise<void> {
    const { target } = this;
    if ((await this.columns(name)).length === 0) return;
    await target.query(`LOCK TABLE ${quoted(name)} IN ACCESS EXCLUSIVE MODE`);
    if ((await target.query<unknown[]>(`SELECT 1 FROM ${quoted(name)} LIMIT 1`)).length > 0)
      throw new Refusal(`${this.name} already has data (${name}). Name an empty database with --to.`);
  }

  /** The columns of a table in PostgreSQL. Throws unless the source has exactly these. */
  private async matchingColumns(name: string): Promise<readonly TargetColumn[]> {
    const columns = await this.columns(name);
    if (columns.length === 0)
      throw this.refusal(
        `cannot be copied: no migration creates the table ${name}; write one, or omit the table with --leave-out ${name}.`,
      );
    const own = await this.source.texts('SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0', [name]);
    const known = columns.map((column) => column.name);
    for (const column of own)
      if (!known.includes(column))
        throw this.refusal(`cannot be copied: no migration creates ${name}.${column}; write one.`);
    for (const column of known)
      if (!own.includes(column))
        throw this.refusal(`cannot be copied: it lacks ${name}.${column}, which the migrations create.`);
    return columns;
  }

  private columns(name: string): Promise<TargetColumn[]> {
    return this.target.query(COLUMNS, [quoted(name)]);
  }

  private async compare(name: string, rows: number): Promise<void> {
    const [found] = await this.target.query<{ rows: string }[]>(
      `SELECT count(*) AS rows FROM ${quoted(name)}`,
    );
    if (Number(found?.rows) === rows) return;
    throw new Refusal(
      `${name} has ${rows} rows in SQLite, and ${found?.rows} in PostgreSQL: a trigger changes rows. Nothing was copied.`,
    );
  }

  /** SQLite does not reuse the ids of deleted rows ("SQLite Autoincrement"), so the sequence continues after the larger of both. */
  private async continueSequence(name: string, columns: readonly TargetColumn[]): Promise<bigint | null> {
    const column = columns.find(({ sequence }) => sequence !== null);
    if (!column) return null;
    const sequence = 'SELECT CAST(seq AS TEXT) FROM sqlite_sequence WHERE name = ?';
    const [lastAssigned = null] = await this.source.texts(sequence, [name]);
    const [set] = await this.target.query<{ last: string }[]>(
      `SELECT setval($1::regclass, last) AS last
       FROM (SELECT greatest($2::bigint, (SELECT max(${quoted(column.name)}) FROM ${quoted(name)})) AS last) AS ids WHERE last > 0`,
      [column.sequence, lastAssigned],
    );
    return set ? BigInt(set.last) : null;
  }

  /** Changes with commits of other connections, but only outside of a transaction. */
  private async version(): Promise<string | undefined> {
    return (await this.source.texts('PRAGMA data_version'))[0];
  }

  private refusal(reason: string): Refusal {
    return new Refusal(`${this.options.file} ${reason}`);
  }
}

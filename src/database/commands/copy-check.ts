import { setTimeout as pause } from 'node:timers/promises';
import { shownDatabaseUrl } from '../../core/config/database-url.js';
import { EXPANSIONS_TABLE, MIGRATIONS_TABLE, type DatabaseSettings } from '../data-source.js';
import type { Database } from '../database.js';
import { quoted } from '../dialect.js';
import type { Connection } from '../sqlite/connection.js';
import { DatabaseRefusal } from './refusal.js';
import type { TargetColumn } from './table-copy.js';

/** What is to be copied. */
export interface CopyOrder {
  /** The SQLite file. */
  readonly file: string;
  /** The settings of the target. */
  readonly target: DatabaseSettings;
  /** Tables of the source that stay behind, which no migration makes. */
  readonly leftOut: readonly string[];
  /** Stops it between two batches. */
  readonly signal: AbortSignal;
  readonly tell: (progress: { phase: string; done: number; of: number }) => void;
}

/** How often it looks whether other processes have gone, and how long between, in milliseconds: sessions end a moment later. */
const [LOOKS, LOOK_MS] = [12, 250];
/** What the sessions of a copy are called. */
export const COPY_SESSION = 'petstore, copy';
/** Tables of migrations and of running instances, which each database has for itself. SQLite's own (sqlite_…) are no part of the store either. */
const OF_EACH_DATABASE = new Set([
  MIGRATIONS_TABLE,
  EXPANSIONS_TABLE,
  'typeorm_metadata',
  'instance_notices',
]);

/** Sessions of instances and commands; each names itself so. */
const OTHERS = `SELECT count(*)::int AS count FROM pg_stat_activity
  WHERE datname = current_database() AND application_name LIKE 'petstore%' AND application_name <> '${COPY_SESSION}'`;

/** The schema in which tables are looked for. */
export const HERE = `(SELECT oid FROM pg_namespace WHERE nspname = current_schema())`;

const COLUMNS = `SELECT c.relname AS table, a.attname AS name, t.typcategory = 'S' AS "isText",
    format_type(t.oid, -1) AS type, format_type(t.oid, a.atttypmod) AS "fullType",
    pg_get_serial_sequence(quote_ident(c.relname), a.attname) AS sequence
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_type t ON t.oid = a.atttypid
  WHERE c.relnamespace = ${HERE} AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
  ORDER BY c.relname, a.attnum`;

/** Whether a file can be copied to a database. Each check throws DatabaseRefusal, which says why not, and what to do. */
export class CopyCheck {
  constructor(
    private readonly order: CopyOrder,
    private readonly source: Connection,
    private readonly target: Database,
  ) {}

  /** Before the transaction, in which PostgreSQL would see the sessions of its beginning for ever. */
  async refuseInstances(): Promise<void> {
    for (let look = 1; ; look += 1) {
      const [found] = await this.target.query<{ count: number }[]>(OTHERS);
      if (found?.count === 0) return;
      if (look === LOOKS)
        throw new DatabaseRefusal(
          `An instance or a command of the service is connected to ${this.name} (connections: ${found?.count}). Stop it, then copy.`,
        );
      await pause(LOOK_MS);
    }
  }

  /** Throws unless the source has run exactly the migrations that this build declares. */
  async checkMigrations(): Promise<void> {
    const {
      source,
      order: { file },
      target,
    } = this;
    const declared = target.migrations.map(({ name, constructor }) => name ?? constructor.name);
    if (!(await source.texts('SELECT name FROM sqlite_master')).includes(MIGRATIONS_TABLE))
      throw new DatabaseRefusal(`${file} is not the database of this service. Name its file with --from.`);
    const applied = await source.texts(`SELECT name FROM ${MIGRATIONS_TABLE} ORDER BY timestamp`);
    const pending = declared.filter((name) => !applied.includes(name));
    const unknown = applied.filter((name) => !declared.includes(name));
    if (unknown.length > 0)
      throw new DatabaseRefusal(
        `${file} was migrated by a newer version of the service (${unknown.join(', ')}), or with a module that is gone. Copy it with that ` +
          'version, or put the module back.',
      );
    if (pending.length > 0)
      throw new DatabaseRefusal(
        `${file} lacks migrations (${pending.join(', ')}). Run "DATABASE_URL=sqlite:${file} petstore db migrate", then copy.`,
      );
  }

  /** The tables of the source that are part of the store. */
  async ownTables(): Promise<string[]> {
    const names = await this.source.texts(
      `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name`,
    );
    return names.filter((name) => !OF_EACH_DATABASE.has(name));
  }

  /** Locks those of the tables that are there, so that no instance sees or changes them before the end, and refuses any row. */
  async refuseData(names: readonly string[]): Promise<void> {
    const { target } = this;
    const there = new Set((await target.query<TargetColumn[]>(COLUMNS)).map(({ table }) => table));
    const filled: string[] = [];
    for (const name of names.filter((one) => there.has(one))) {
      await target.query(`LOCK TABLE ${quoted(name)} IN ACCESS EXCLUSIVE MODE`);
      if ((await target.query<unknown[]>(`SELECT 1 FROM ${quoted(name)} LIMIT 1`)).length > 0)
        filled.push(name);
    }
    if (filled.length > 0)
      throw new DatabaseRefusal(
        `${this.name} has data already (${filled.join(', ')}). Name an empty database with --to.`,
      );
  }

  /** The columns of each table to copy. Throws when one database has tables or columns that the other has not. */
  async tablesToCopy(names: readonly string[]): Promise<ReadonlyMap<string, readonly TargetColumn[]>> {
    const {
      source,
      target,
      order: { file, leftOut },
    } = this;
    const all = await target.query<TargetColumn[]>(COLUMNS);
    const declared = target.entityMetadatas.map(({ tableName }) => tableName);
    const faults = [
      ...leftOut
        .filter((name) => !names.includes(name))
        .map((name) => `--leave-out ${name}: there is no such table`),
      ...declared
        .filter((name) => !OF_EACH_DATABASE.has(name))
        .filter((name) => !names.includes(name) || leftOut.includes(name))
        .map((name) => `the table ${name} belongs to the service, and is not in the copy`),
    ];
    const tables = new Map<string, readonly TargetColumn[]>();
    for (const name of names.filter((one) => !leftOut.includes(one))) {
      const columns = all.filter(({ table }) => table === name);
      if (columns.length === 0) {
        faults.push(
          `no migration makes the table ${name}; write one, or leave it behind with --leave-out ${name}`,
        );
        continue;
      }
      tables.set(name, columns);
      const own = await source.texts('SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0', [name]);
      const known = columns.map((column) => column.name);
      faults.push(
        ...own
          .filter((one) => !known.includes(one))
          .map((one) => `no migration makes ${name}.${one}; write one`),
        ...known
          .filter((one) => !own.includes(one))
          .map((one) => `it lacks ${name}.${one}, which migrations make`),
      );
    }
    if (faults.length === 0) return tables;
    throw new DatabaseRefusal(
      `${file} cannot be copied as it is:\n${faults.map((fault) => `  ${fault}`).join('\n')}`,
    );
  }

  private get name(): string {
    return shownDatabaseUrl(this.order.target.databaseUrl);
  }
}

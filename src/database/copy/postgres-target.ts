import { setTimeout as pause } from 'node:timers/promises';
import type { Client, QueryConfig } from 'pg';
import { openingFailure } from '../postgres/postgres-errors.js';
import { ONLY_SERVER_LOCK } from '../postgres/only-server.js';
import { type PostgresOptions, clientConfig } from '../postgres/postgres-pool.js';
import type { CarriedRow } from './carried-rows.js';
import { type TableSum, readSum, sumSql } from './checksum.js';
import { CopyRefusal } from './copy-refusal.js';
import { type CopyState, NOTHING, STATE_TABLE } from './copy-state.js';
import { quoted } from './sqlite-source.js';
import { type TargetTable, readTables } from './target-schema.js';

/** How often it looks whether other processes have gone, and how long between, in milliseconds: sessions end a moment later. */
const [LOOKS, LOOK_MS] = [12, 250];
/** How long the server may take for a batch of rows, in milliseconds: it may stand still, or the network swallow everything. */
const BATCH_LIMIT_MS = 60_000;

/** The session is in UTC, as SQLite's instants are. Batches need not reach the disk one by one: the last commit takes all along. */
const SETTINGS =
  `SET TIME ZONE 'UTC'; SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; ` +
  `SET lock_timeout = 10000; SET synchronous_commit = off`;

/** Locks of the session: one copy at a time, and no instance that serves alone beside it. */
const CLAIMS =
  `SELECT pg_try_advisory_lock(hashtextextended('petstore copy', 0)) AS copies, ` +
  `pg_try_advisory_lock(${ONLY_SERVER_LOCK}) AS serves`;

/** Sessions of instances and commands; each names itself so. */
const OTHERS =
  `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() ` +
  `AND application_name LIKE 'petstore%' AND pid <> pg_backend_pid()`;

/** The PostgreSQL database that is copied into, by one session, which holds its locks as long as it lives. */
export class PostgresTarget {
  private constructor(
    private readonly client: Client,
    private readonly name: string,
  ) {}

  /** Connects; throws CopyRefusal that names the database as `name` has it, which has no password. */
  static async open(options: PostgresOptions, name: string): Promise<PostgresTarget> {
    const { default: driver } = await import('pg');
    const client = new driver.Client({ ...clientConfig(options), application_name: 'petstore, copy' });
    // The statement that runs is told of it, too.
    client.on('error', () => undefined);
    const target = new PostgresTarget(client, name);
    await target.telling(() => client.connect());
    await target.run(SETTINGS);
    return target;
  }

  /** Claims the database. Throws CopyRefusal while another copy runs, or an instance uses it. */
  async claim(): Promise<void> {
    for (let look = 1; ; look += 1) {
      const [found] = await this.rows<{ copies: boolean; serves: boolean }>(CLAIMS);
      if (found?.copies === true && found.serves) break;
      const who = found?.copies === true ? 'An instance runs on' : 'Another copy runs into';
      if (look === LOOKS)
        throw new CopyRefusal(`${who} ${this.name}. Stop it, or wait for its end, then copy.`);
      // Each lock is counted: without this the next look would hold it twice.
      await this.run('SELECT pg_advisory_unlock_all()');
      await pause(LOOK_MS);
    }
    await this.refuseOthers();
  }

  /** Throws CopyRefusal while a process of the service is connected. */
  async refuseOthers(): Promise<void> {
    for (let look = 1; ; look += 1) {
      const [found] = await this.rows<{ count: number }>(OTHERS);
      if (found?.count === 0) return;
      if (look === LOOKS)
        throw new CopyRefusal(
          `An instance or a command of the service is connected to ${this.name} (connections: ${found?.count}). Stop it, then copy.`,
        );
      await pause(LOOK_MS);
    }
  }

  /** The tables that it has, by name. */
  tables(): Promise<ReadonlyMap<string, TargetTable>> {
    return this.telling(() => readTables(this.client));
  }

  /** Which of the tables have rows. */
  async filled(tables: Iterable<string>): Promise<string[]> {
    const filled: string[] = [];
    for (const name of tables)
      if ((await this.rows(`SELECT 1 FROM ${quoted(name)} LIMIT 1`)).length > 0) filled.push(name);
    return filled;
  }

  /** What it knows of a copy that has not ended. */
  async state(): Promise<CopyState | undefined> {
    const [table] = await this.rows<{ isThere: boolean }>(
      `SELECT to_regclass('${STATE_TABLE}') IS NOT NULL AS "isThere"`,
    );
    if (table?.isThere !== true) return undefined;
    const [row] = await this.rows<{ state: CopyState }>(`SELECT state FROM ${STATE_TABLE}`);
    return row?.state;
  }

  /**
   * Marks it as one that a copy goes into, so that no instance starts on it, and empties the tables: migrations may have written rows,
   * which are among those of the source. `begun` is the state of a copy that has copied nothing yet, which begins anew.
   */
  async mark(tables: readonly string[], begun: CopyState | undefined): Promise<void> {
    await this.inTransaction(async () => {
      if (tables.length > 0) await this.run(`TRUNCATE ${tables.map(quoted).join(', ')}`);
      for (const statement of begun?.foreignKeys ?? []) await this.run(statement);
      await this.run(`DROP TABLE IF EXISTS ${STATE_TABLE}`);
      await this.run(`CREATE TABLE ${STATE_TABLE} (state json NOT NULL)`);
      await this.run(`INSERT INTO ${STATE_TABLE} VALUES ($1)`, [JSON.stringify(NOTHING)]);
    });
  }

  /** Takes the mark away, before anything was copied. */
  unmark(): Promise<void> {
    return this.run(`DROP TABLE ${STATE_TABLE}`);
  }

  /** Begins to copy: takes off the foreign keys of the tables and notes the state. */
  async begin(tables: readonly TargetTable[], state: CopyState): Promise<void> {
    await this.inTransaction(async () => {
      for (const { table, name } of tables.flatMap(({ foreignKeys }) => foreignKeys))
        await this.run(`ALTER TABLE ${quoted(table)} DROP CONSTRAINT ${quoted(name)}`);
      await this.run(`UPDATE ${STATE_TABLE} SET state = $1`, [JSON.stringify(state)]);
    });
  }

  /** Writes rows, and with them the state that counts them: both are committed, or none. */
  async insert({ name, columns }: TargetTable, rows: readonly CarriedRow[], state: CopyState): Promise<void> {
    const names = columns.map((column) => quoted(column.name)).join(', ');
    const arrays = columns.map(({ sqlType }, at) => `$${at + 2}::${sqlType}[]`).join(', ');
    const text =
      `WITH copied AS (INSERT INTO ${quoted(name)} (${names}) OVERRIDING SYSTEM VALUE SELECT * FROM unnest(${arrays})) ` +
      `UPDATE ${STATE_TABLE} SET state = $1`;
    const values = [JSON.stringify(state), ...columns.map((_, at) => rows.map((row) => row[at] ?? null))];
    const query: QueryConfig & { query_timeout: number } = { text, values, query_timeout: BATCH_LIMIT_MS };
    await this.telling(() => this.client.query(query));
  }

  /** The rows and the checksum of a table, which the server computes. */
  async sum(table: TargetTable): Promise<TableSum> {
    const [row] = await this.rows<{ rows: string; sum: string }>(sumSql(table, quoted));
    return readSum(row ?? { rows: '0', sum: '0' });
  }

  /** Ends a copy: foreign keys are put back, and sequences go on where SQLite was. */
  async finish(
    tables: readonly TargetTable[],
    state: CopyState,
    lastIds: ReadonlyMap<string, bigint>,
  ): Promise<void> {
    for (const { name } of tables) await this.run(`ANALYZE ${quoted(name)}`);
    await this.inTransaction(async () => {
      await this.run('SET LOCAL synchronous_commit = on');
      for (const statement of state.foreignKeys) await this.run(statement);
      for (const table of tables)
        for (const sequence of table.sequences) {
          const last = lastIds.get(table.name);
          if (last !== undefined)
            await this.run('SELECT setval($1::regclass, $2)', [sequence.name, String(last)]);
        }
      await this.run(`DROP TABLE ${STATE_TABLE}`);
    });
  }

  /** Ends the session, and with it its locks. Never rejects. */
  async close(): Promise<void> {
    await this.client.end().catch(() => undefined);
  }

  private async inTransaction(work: () => Promise<void>): Promise<void> {
    await this.run('BEGIN');
    try {
      await work();
    } catch (error) {
      await this.client.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
    await this.run('COMMIT');
  }

  private async run(sql: string, values?: readonly unknown[]): Promise<void> {
    await this.rows(sql, values);
  }

  private async rows<Row extends object>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.telling(async () => (await this.client.query<Row>(sql, [...values])).rows);
  }

  private async telling<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const why = openingFailure(error).replaceAll('DATABASE_URL', '--to');
      throw new CopyRefusal(`${this.name}: ${why}`, { cause: error });
    }
  }
}

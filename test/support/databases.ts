import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { it, onTestFinished } from 'vitest';
import type { Database } from '../../src/database/database.js';
import { openDataSource } from '../../src/database/data-source.js';
import { makeDatabase } from '../kit/test-database.js';
import { POSTGRES_URL } from './requirements.js';

/** Whether this run of test/postgres uses PostgreSQL (vitest.config.ts). */
export const ON_POSTGRES = process.env.PETSTORE_TEST_DATABASE === 'postgres';

/** The DATABASE_URL of an empty PostgreSQL database, which is dropped at the end of the test. */
export async function postgresOfTest(): Promise<string> {
  const { url, remove } = await makeDatabase('postgres');
  onTestFinished(remove);
  return url;
}

/** A DataSource as the command line opens it, closed at the end of the test. */
export async function dataSourceOfTest(
  databaseUrl: string,
  opening: { readonly isUnlimited?: boolean } = {},
): Promise<Database> {
  const dataSource = await openDataSource({ databaseUrl }, opening);
  onTestFinished(() => dataSource.destroy());
  return dataSource;
}

/** `it` for tests that apply only to SQLite. */
export const itOnSqlite: (name: string, test: () => Promise<void>) => void = ON_POSTGRES ? it.skip : it;

/** Converts `?` parameters to the syntax of the database: PostgreSQL numbers them. */
export function withParameters(sql: string): string {
  let at = 0;
  return ON_POSTGRES ? sql.replace(/\?/g, () => `$${(at += 1)}`) : sql;
}

/** The steps of the plan with which the database would execute a query. */
export async function planOf(
  dataSource: DataSource,
  sql: string,
  parameters: unknown[] = [],
): Promise<string[]> {
  if (!ON_POSTGRES) {
    const rows = await dataSource.query<{ detail: string }[]>(`EXPLAIN QUERY PLAN ${sql}`, parameters);
    return rows.map(({ detail }) => detail);
  }
  return dataSource.transaction(async ({ queryRunner }) => {
    // PostgreSQL prefers to scan and sort a small table, but the question is whether an index could serve the query.
    for (const other of ['seqscan', 'bitmapscan', 'sort', 'hashjoin', 'mergejoin', 'hashagg'])
      await queryRunner?.query(`SET LOCAL enable_${other} = off`);
    const rows = (await queryRunner?.query(`EXPLAIN ${sql}`, parameters)) as { 'QUERY PLAN': string }[];
    return rows.map((row) => row['QUERY PLAN']);
  });
}

/** Makes the database refuse all writes, or accept them again. */
export async function refuseWrites(dataSource: DataSource, refuses: boolean): Promise<void> {
  if (!ON_POSTGRES) {
    await dataSource.query(`PRAGMA query_only = ${refuses ? 'ON' : 'OFF'}`);
    return;
  }
  const client = new pg.Client({ connectionString: POSTGRES_URL });
  await client.connect();
  const { database } = dataSource.driver;
  await client.query(`ALTER DATABASE "${database}" SET default_transaction_read_only = ${refuses}`);
  // The setting applies only to new sessions. If a session were terminated during a COMMIT, the outcome would be unknown.
  const { rows } = await client.query<{ now: string }>('SELECT now()::text AS now');
  const end = `SELECT pg_terminate_backend(CASE state WHEN 'idle' THEN pid END) FROM pg_stat_activity
    WHERE datname = $1 AND backend_start < $2`;
  while ((await client.query(end, [database, rows[0]?.now])).rowCount !== 0) await pause(10);
  await client.end();
}

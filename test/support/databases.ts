import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { it, onTestFinished } from 'vitest';
import type { Database } from '../../src/database/database.js';
import { openDataSource } from '../../src/database/data-source.js';
import { makeDatabase } from '../kit/test-database.js';
import { POSTGRES_URL } from './requirements.js';

/** Whether this run of test/postgres is the one on PostgreSQL (vitest.config.ts). */
export const ON_POSTGRES = process.env.PETSTORE_TEST_DATABASE === 'postgres';

/** The DATABASE_URL of an empty database of PostgreSQL, which is dropped when the test is over. */
export async function postgresOfTest(): Promise<string> {
  const { url, remove } = await makeDatabase('postgres');
  onTestFinished(remove);
  return url;
}

/** A DataSource on a database as the command line opens it, until the test is over. */
export async function dataSourceOfTest(
  databaseUrl: string,
  opening: { readonly isUnlimited?: boolean } = {},
): Promise<Database> {
  const dataSource = await openDataSource({ databaseUrl }, opening);
  onTestFinished(() => dataSource.destroy());
  return dataSource;
}

/** `it` for what is SQLite's own. */
export const itOnSqlite: (name: string, test: () => Promise<void>) => void = ON_POSTGRES ? it.skip : it;

/** A statement whose parameters are `?` in the words of the database: PostgreSQL numbers them. */
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
    // PostgreSQL prefers to scan and sort a small table. The check is whether an index could serve the query.
    for (const other of ['seqscan', 'bitmapscan', 'sort', 'hashjoin', 'mergejoin', 'hashagg'])
      await queryRunner?.query(`SET LOCAL enable_${other} = off`);
    const rows = (await queryRunner?.query(`EXPLAIN ${sql}`, parameters)) as { 'QUERY PLAN': string }[];
    return rows.map((row) => row['QUERY PLAN']);
  });
}

/** Makes the database refuse whatever writes, or take it again. */
export async function refuseWrites(dataSource: DataSource, refuses: boolean): Promise<void> {
  if (!ON_POSTGRES) {
    await dataSource.query(`PRAGMA query_only = ${refuses ? 'ON' : 'OFF'}`);
    return;
  }
  const client = new pg.Client({ connectionString: POSTGRES_URL });
  await client.connect();
  const { database } = dataSource.driver;
  await client.query(`ALTER DATABASE "${database}" SET default_transaction_read_only = ${refuses}`);
  // It holds for new sessions alone. One that was cut during a COMMIT would leave open whether that was carried out.
  const { rows } = await client.query<{ now: string }>('SELECT now()::text AS now');
  const end = `SELECT pg_terminate_backend(CASE state WHEN 'idle' THEN pid END) FROM pg_stat_activity
    WHERE datname = $1 AND backend_start < $2`;
  while ((await client.query(end, [database, rows[0]?.now])).rowCount !== 0) await pause(10);
  await client.end();
}

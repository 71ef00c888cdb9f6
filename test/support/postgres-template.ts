import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { buildIfStale } from '../../scripts/build-if-stale.mjs';
import { POSTGRES_URL } from './requirements.js';
import { BARE_ENVIRONMENT, ROOT } from './service-process.js';

/**
 * Run once before the suites on PostgreSQL: makes a database with all tables of the service, which those of the test kit are copies
 * of. Twenty migrations for each would take longer than most suites.
 */
export default async function setup(): Promise<() => Promise<void>> {
  buildIfStale();
  const name = `petstore_template_${randomUUID().replaceAll('-', '')}`;
  await order(`CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`);
  const url = new URL(POSTGRES_URL);
  url.pathname = `/${name}`;
  execFileSync(process.execPath, ['bin/petstore.js', 'db', 'migrate'], {
    cwd: ROOT,
    env: { ...BARE_ENVIRONMENT, DATABASE_URL: url.href },
  });
  await order(WITHOUT_STATISTICS, url.href);
  process.env.PETSTORE_TEST_POSTGRES_TEMPLATE = name;
  return () => order(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
}

/** Keeps autovacuum from finding out how few rows there are: plans would depend on when it comes by. */
const WITHOUT_STATISTICS = `DO $$ DECLARE one regclass; BEGIN
  FOR one IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace LOOP
    EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = false)', one);
  END LOOP;
END $$`;

async function order(sql: string, url = POSTGRES_URL): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import 'reflect-metadata';
import { declaredTables, openDataSource } from '../../src/database/data-source.js';
import { migrate } from '../../src/database/schema.js';
import { PlatformModule } from '../../src/platform.module.js';
import build from './build-with-catalogue.js';
import { PetsModule } from './pets/pets.module.js';
import { POSTGRES_URL } from './requirements.js';
import { BARE_ENVIRONMENT, ROOT } from './service-process.js';

/**
 * Runs once before the suites on PostgreSQL: creates template databases with all tables of the service, which the test kit copies, one for
 * suites of the platform and one for those of the checkout. Running twenty migrations for each database would take longer than most suites.
 */
export default async function setup(): Promise<() => Promise<void>> {
  await build();
  const templates = { checkout: newName(), platform: newName() };
  for (const name of Object.values(templates))
    await execute(`CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`);
  execFileSync(process.execPath, ['bin/petstore.js', 'db', 'migrate'], {
    cwd: ROOT,
    env: { ...BARE_ENVIRONMENT, DATABASE_URL: urlOf(templates.checkout) },
  });
  const tables = await declaredTables([PlatformModule, PetsModule]);
  const platform = await openDataSource(
    { databaseUrl: urlOf(templates.platform) },
    { tables, isUnlimited: true },
  );
  await migrate(platform);
  await platform.destroy();
  for (const name of Object.values(templates)) await execute(WITHOUT_STATISTICS, urlOf(name));
  process.env.PETSTORE_TEST_POSTGRES_TEMPLATES = JSON.stringify(templates);
  return async () => {
    for (const name of Object.values(templates))
      await execute(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  };
}

function newName(): string {
  return `petstore_template_${randomUUID().replaceAll('-', '')}`;
}

function urlOf(database: string): string {
  const url = new URL(POSTGRES_URL);
  url.pathname = `/${database}`;
  return url.href;
}

/** Prevents autovacuum from updating the table statistics: otherwise, query plans would depend on when it runs. */
const WITHOUT_STATISTICS = `DO $$ DECLARE one regclass; BEGIN
  FOR one IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace LOOP
    EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = false)', one);
  END LOOP;
END $$`;

async function execute(sql: string, url = POSTGRES_URL): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

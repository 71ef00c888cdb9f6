import type { DataSource, MigrationInterface } from 'typeorm';
import { readDatabaseUrl } from '../core/config/database-url.js';
import type { Settings } from '../core/config/settings.js';
import { EXPANSIONS_TABLE, MIGRATIONS_TABLE } from './data-source.js';
import type { Database } from './database.js';
import { fileOf } from './sqlite/sqlite-data-source.js';
import { withFileErrors } from './sqlite/availability/sqlite-errors.js';
import { checkWriteLock } from './sqlite/availability/usable-file.js';

/** Attempts to migrate on SQLite, where another starting process may interfere. */
const ATTEMPTS = 3;

/** A migration that declares whether it only expands the schema, so that older builds still work. */
export interface Migration extends MigrationInterface {
  /** It only adds tables, indexes, and columns that are nullable or have a default; false by default. */
  readonly onlyExpands?: boolean;
}

/** The migrations that the database has run, and those that this version would run. */
export interface SchemaStatus {
  readonly applied: readonly string[];
  readonly pending: readonly string[];
  /** Applied by a newer version of the service, or by a removed module; unknown to this version. */
  readonly unknown: readonly string[];
  /** Unknown migrations that only expand the schema, so that this version works with it. */
  readonly expansions: readonly string[];
}

/**
 * How migrations are handled at startup. By default, they are only checked on PostgreSQL in production, where several instances may start
 * at once and an operator chooses when to change a large table.
 */
export function migrateModeOf({ databaseMigrate, databaseUrl, nodeEnv }: Settings): 'auto' | 'check' | 'off' {
  const isChecked = readDatabaseUrl(databaseUrl)?.kind === 'postgres' && nodeEnv === 'production';
  return databaseMigrate ?? (isChecked ? 'check' : 'auto');
}

/** Compares the database's migrations with the declared ones; changes nothing. */
export async function schemaStatus(dataSource: Database): Promise<SchemaStatus> {
  const found = compareMigrations(dataSource, await rowsOf(dataSource, MIGRATIONS_TABLE, 'timestamp'));
  const expansions = found.unknown.length === 0 ? [] : await rowsOf(dataSource, EXPANSIONS_TABLE, 'name');
  return { ...found, expansions: found.unknown.filter((name) => expansions.includes(name)) };
}

/** Compares the names of migrations that ran with the declared ones. */
export function compareMigrations(
  { migrations }: Database,
  names: readonly string[],
): Omit<SchemaStatus, 'expansions'> {
  const known = migrations.toSorted(byTimestamp).map(nameOf);
  return {
    applied: names.filter((name) => known.includes(name)),
    pending: known.filter((name) => !names.includes(name)),
    unknown: names.filter((name) => !known.includes(name)),
  };
}

/**
 * Migrates the schema and returns the names of the migrations that ran. Throws without changes if this version of the service cannot run on
 * the schema, or the schema is not writable.
 */
export async function migrate(dataSource: Database): Promise<string[]> {
  const file = fileOf(dataSource);
  refuseIfNewer(dataSource, await schemaStatus(dataSource));
  if (file !== undefined) await checkWriteLock(file);
  const attempts = dataSource.options.type === 'sqlite' ? ATTEMPTS : 1;
  return withFileErrors(file, () => dataSource.whileMigrating(() => runMigrations(dataSource, attempts)));
}

/** Like `migrate`, within the caller's transaction, which must hold the lock `migrations`. */
export async function migrateInside(dataSource: Database): Promise<void> {
  refuseIfNewer(dataSource, await schemaStatus(dataSource));
  await runMigrations(dataSource, 1);
}

/** Throws if this version of the service cannot run on the current schema. */
export async function checkSchema(dataSource: Database): Promise<void> {
  const status = await schemaStatus(dataSource);
  refuseIfNewer(dataSource, status);
  if (status.pending.length > 0)
    throw new Error(
      `${fileOf(dataSource) ?? 'The database'} lacks migrations (${status.pending.join(', ')}). Run "petstore db migrate" ` +
        'with this version, then start it again. To run migrations at every start, set DATABASE_MIGRATE=auto.',
    );
}

/**
 * The statements with which TypeORM would adapt the database to the declared entities; empty if there are no differences. Only reads, but
 * the whole schema, which takes 10 to 40 ms.
 */
export async function schemaDifference(dataSource: DataSource): Promise<readonly string[]> {
  const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
  return upQueries.map(({ query }) => query);
}

/** Unknown migrations that do more than expand the schema, so that this version cannot run with them. */
function contractionsOf({ unknown, expansions }: SchemaStatus): string[] {
  return unknown.filter((name) => !expansions.includes(name));
}

/** Throws if a newer version has changed the schema in a way that this version cannot run on. */
export function refuseIfNewer(dataSource: Database, status: SchemaStatus): void {
  const contractions = contractionsOf(status);
  if (contractions.length === 0) return;
  throw new Error(
    `${fileOf(dataSource) ?? 'The database'} was migrated by a newer version of the service (${contractions.join(', ')}), ` +
      'or with a module that was removed. Start that version, add the module again, or restore a backup made before it.',
  );
}

/** Migrations share a transaction, except those that opt out. If one fails, those of its transaction are rolled back. */
async function runMigrations(dataSource: Database, attempts: number): Promise<string[]> {
  try {
    const { pending } = await schemaStatus(dataSource);
    if (pending.length === 0) return [];
    // Recorded first, because a name whose migration did not run is harmless, but a missing name is not.
    await recordExpansions(dataSource, pending);
    return (await dataSource.runMigrations()).map(({ name }) => name);
  } catch (error) {
    await checkReferencesAgain(dataSource);
    // Another starting process may have run them, or have created the table of migrations.
    if ((await schemaStatus(dataSource)).pending.length === 0) return [];
    if (attempts <= 1) throw error;
    return runMigrations(dataSource, attempts - 1);
  }
}

/** TypeORM disables foreign keys on SQLite while it migrates, and leaves them disabled if that fails. */
async function checkReferencesAgain(dataSource: Database): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.afterMigration();
  } finally {
    await runner.release();
  }
}

async function recordExpansions(dataSource: Database, pending: readonly string[]): Promise<void> {
  const expanding = (dataSource.migrations as Migration[])
    .filter((migration) => migration.onlyExpands === true && pending.includes(nameOf(migration)))
    .map(nameOf);
  if (expanding.length === 0) return;
  await dataSource.query(`CREATE TABLE IF NOT EXISTS ${EXPANSIONS_TABLE} (name varchar(255) PRIMARY KEY)`);
  for (const name of expanding) {
    const placeholder = dataSource.driver.createParameter('name', 0);
    await dataSource.query(`INSERT INTO ${EXPANSIONS_TABLE} VALUES (${placeholder}) ON CONFLICT DO NOTHING`, [
      name,
    ]);
  }
}

/** The names in one of the tables that record migrations; empty if the table does not exist. */
async function rowsOf(dataSource: Database, table: string, order: string): Promise<string[]> {
  const runner = dataSource.createQueryRunner();
  try {
    if (!(await runner.hasTable(table))) return [];
    const rows = (await runner.query(`SELECT name FROM ${table} ORDER BY ${order}`)) as { name: string }[];
    return rows.map(({ name }) => name);
  } finally {
    await runner.release();
  }
}

/** TypeORM runs migrations in the order of the 13-digit timestamp at the end of their class name. */
function byTimestamp(a: MigrationInterface, b: MigrationInterface): number {
  return nameOf(a).slice(-13) < nameOf(b).slice(-13) ? -1 : 1;
}

function nameOf(migration: MigrationInterface): string {
  return migration.name ?? migration.constructor.name;
}

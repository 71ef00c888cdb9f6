import type { DataSource, MigrationInterface } from 'typeorm';
import { MIGRATIONS_TABLE } from './data-source.js';
import { fileOf } from './sqlite/sqlite-data-source.js';
import { naming } from './sqlite/troubles/sqlite-errors.js';
import { checkWriteLock } from './sqlite/troubles/usable-file.js';

/** How often migrations are tried, where a process that starts beside this one is in the way. */
const ATTEMPTS = 3;

/** Which migrations the database has run, and which this version of the service would add. */
export interface SchemaStatus {
  readonly applied: readonly string[];
  readonly pending: readonly string[];
  /** Applied by a newer version of the service, or by a module that is gone: this one does not know them. */
  readonly unknown: readonly string[];
}

/** Compares the database's migrations with the declared ones; changes nothing. */
export async function schemaStatus(dataSource: DataSource): Promise<SchemaStatus> {
  const known = dataSource.migrations.toSorted(byTimestamp).map(nameOf);
  const applied = await appliedMigrations(dataSource);
  return {
    applied: applied.filter((name) => known.includes(name)),
    pending: known.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !known.includes(name)),
  };
}

/**
 * Brings the schema up to date and answers the names of the migrations that it ran.
 * Throws, having changed nothing, when the schema is newer than this version of the service, or cannot be written to.
 */
export async function migrate(dataSource: DataSource): Promise<string[]> {
  const file = fileOf(dataSource);
  const { unknown } = await schemaStatus(dataSource);
  if (unknown.length > 0) {
    throw new Error(
      `${file ?? 'The database'} was migrated by a newer version of the service (${unknown.join(', ')}), ` +
        'or with a module that is gone. Start that version, put the module back, or restore a backup made before it.',
    );
  }
  if (file === undefined) return runMigrations(dataSource, ATTEMPTS);
  await checkWriteLock(file);
  return naming(file, () => runMigrations(dataSource, ATTEMPTS));
}

/** All migrations run in one transaction: when one fails, the schema is as it was before. */
async function runMigrations(dataSource: DataSource, attempts: number): Promise<string[]> {
  try {
    return (await dataSource.runMigrations()).map(({ name }) => name);
  } catch (error) {
    // A process starting beside this one may have run them all in the meantime, or only begun: it makes the table first.
    if ((await schemaStatus(dataSource)).pending.length === 0) return [];
    if (attempts <= 1) throw error;
    return runMigrations(dataSource, attempts - 1);
  }
}

async function appliedMigrations(dataSource: DataSource): Promise<string[]> {
  const runner = dataSource.createQueryRunner();
  try {
    if (!(await runner.hasTable(MIGRATIONS_TABLE))) return [];
    const rows = (await runner.query(`SELECT name FROM ${MIGRATIONS_TABLE} ORDER BY timestamp`)) as {
      name: string;
    }[];
    return rows.map(({ name }) => name);
  } finally {
    await runner.release();
  }
}

/** TypeORM runs migrations in the order of the 13-digit timestamp that ends their class name. */
function byTimestamp(a: MigrationInterface, b: MigrationInterface): number {
  return nameOf(a).slice(-13) < nameOf(b).slice(-13) ? -1 : 1;
}

function nameOf(migration: MigrationInterface): string {
  return migration.name ?? migration.constructor.name;
}

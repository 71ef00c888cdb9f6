import sqlite3 from 'sqlite3';
import type { DataSource } from 'typeorm';
import type { Settings } from '../config/settings.js';
import { declaredClasses } from './declared-files.js';
import { SqliteDataSource } from './sqlite/sqlite-data-source.js';

/** How long a connection waits while another process has the SQLite file locked, in milliseconds. */
const BUSY_TIMEOUT_MS = 5_000;

/** TypeORM asks sqlite3 to be verbose: it would then inspect every statement with its values, for a longer stack. */
const QUIET_DRIVER = { ...sqlite3, verbose: () => sqlite3 };

/** The table that records which migrations ran. */
export const MIGRATIONS_TABLE = 'schema_migrations';

/** Opens the DataSource of a DATABASE_URL; throws an Error that names it. */
export async function openDataSource(settings: Pick<Settings, 'databaseUrl'>): Promise<DataSource> {
  const dataSource = await createDataSource(settings);
  try {
    return await dataSource.initialize();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot open DATABASE_URL ${settings.databaseUrl}: ${reason}`, { cause: error });
  }
}

/**
 * The unopened DataSource for a DATABASE_URL, with every declared entity and migration. The service, the
 * command line, the tests and the TypeORM CLI (through ormconfig.ts) all take theirs from here.
 */
export async function createDataSource(settings: Pick<Settings, 'databaseUrl'>): Promise<DataSource> {
  const [entities, migrations] = await Promise.all([declaredClasses('entity'), declaredClasses('migration')]);
  return new SqliteDataSource({
    type: 'sqlite',
    driver: QUIET_DRIVER,
    database: settings.databaseUrl.slice('sqlite:'.length),
    enableWAL: true,
    busyTimeout: BUSY_TIMEOUT_MS,
    entities,
    migrations: migrations as never[],
    migrationsTableName: MIGRATIONS_TABLE,
    migrationsTransactionMode: 'all',
    synchronize: false,
    logging: false,
  });
}

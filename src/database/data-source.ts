import sqlite3 from 'sqlite3';
import type { Settings } from '../config/settings.js';
import type { Database } from './database.js';
import { declaredClasses } from './declared-files.js';
import { SqliteDataSource, fileOf } from './sqlite/sqlite-data-source.js';
import { UnusableDatabase, naming } from './sqlite/troubles/sqlite-errors.js';
import { checkUsable } from './sqlite/troubles/usable-file.js';
import { addedTables } from './tables.module.js';

/** How long a connection waits while another process has the SQLite file locked, in milliseconds. */
const BUSY_TIMEOUT_MS = 5_000;

/**
 * TypeORM turns on the verbose mode of sqlite3, which inspects every statement with its values so that an error has a longer
 * stack. It stays off here.
 */
const QUIET_DRIVER = { ...sqlite3, verbose: () => sqlite3 };

/** The table that records which migrations ran. */
export const MIGRATIONS_TABLE = 'schema_migrations';

/**
 * Opens the DataSource of a DATABASE_URL; throws an Error of one line that names it and says what to do. A file whose journal is
 * left `as it is` is not turned into one with a write-ahead log.
 */
export async function openDataSource(
  settings: Pick<Settings, 'databaseUrl'>,
  journal: 'write-ahead' | 'as it is' = 'write-ahead',
): Promise<Database> {
  const dataSource = await createDataSource(settings, journal);
  const file = fileOf(dataSource);
  try {
    if (file === undefined) return await dataSource.initialize();
    await checkUsable(file, MIGRATIONS_TABLE);
    return await naming(file, () => dataSource.initialize());
  } catch (error) {
    if (error instanceof UnusableDatabase) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot open DATABASE_URL ${settings.databaseUrl}: ${reason}`, { cause: error });
  }
}

/**
 * The unopened DataSource for a DATABASE_URL, with every declared entity and migration. The service, the
 * command line, the tests and the TypeORM CLI (through ormconfig.ts) all take theirs from here.
 */
export async function createDataSource(
  settings: Pick<Settings, 'databaseUrl'>,
  journal: 'write-ahead' | 'as it is' = 'write-ahead',
): Promise<Database> {
  const [entities, migrations] = await Promise.all([declaredClasses('entity'), declaredClasses('migration')]);
  const added = addedTables();
  return new SqliteDataSource({
    type: 'sqlite',
    driver: QUIET_DRIVER,
    database: settings.databaseUrl.slice('sqlite:'.length),
    enableWAL: journal === 'write-ahead',
    busyTimeout: BUSY_TIMEOUT_MS,
    entities: distinct([...entities, ...added.entities]),
    migrations: distinct([...migrations, ...added.migrations]) as never[],
    migrationsTableName: MIGRATIONS_TABLE,
    migrationsTransactionMode: 'all',
    synchronize: false,
    logging: false,
  });
}

/** A module in src may name its tables too, although they are found. */
function distinct<T>(classes: readonly T[]): T[] {
  return [...new Set(classes)];
}

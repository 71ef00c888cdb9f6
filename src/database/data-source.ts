import type { Type } from '@nestjs/common';
import sqlite3 from 'sqlite3';
import {
  DEFAULT_POOL,
  DEFAULT_STATEMENT_TIMEOUT_MS,
  readDatabaseUrl,
  redactedDatabaseUrl,
} from '../core/config/database-url.js';
import type { Settings } from '../core/config/settings.js';
import type { Database } from './database.js';
import { declaredClasses } from './declared-files.js';
import { SqliteDataSource, fileOf } from './sqlite/sqlite-data-source.js';
import { UnusableDatabase, messageOf, withFileErrors } from './sqlite/availability/sqlite-errors.js';
import { checkUsable } from './sqlite/availability/usable-file.js';
import { type Tables, registeredTables } from './tables.module.js';

/** How long a connection waits for a locked SQLite file, in milliseconds. */
const BUSY_TIMEOUT_MS = 5_000;

/** Without sqlite3's verbose mode, which TypeORM enables and which captures a stack trace for every statement. */
const QUIET_DRIVER = { ...sqlite3, verbose: () => sqlite3 };

/** The table that records which migrations ran. */
export const MIGRATIONS_TABLE = 'schema_migrations';
/** The table that records which migrations only expand the schema. It is created first, in a separate transaction. */
export const EXPANSIONS_TABLE = 'schema_expansions';

/** Settings of the database; omitted ones have their defaults. */
export type DatabaseSettings = Pick<Settings, 'databaseUrl'> &
  Partial<Pick<Settings, 'databaseCa' | 'databasePool' | 'databaseStatementTimeoutMs'>>;

/** How a database is opened. */
export interface OpenOptions {
  /** With `as it is`, the file is not switched to a write-ahead log. */
  readonly journal?: 'write-ahead' | 'as it is';
  /** Without a statement timeout, for migrations and copies. */
  readonly isUnlimited?: boolean;
  /** application_name of its sessions. */
  readonly sessionName?: string;
  /** Its entities and migrations; those of declaredTables() by default. */
  readonly tables?: Tables;
  /** Called with the DataSource before a file is created or read, or a server is contacted. */
  readonly check?: (declared: Database) => Promise<void>;
}

/** Opens the DataSource for a DATABASE_URL. Throws an Error with a one-line message that names the URL and the remedy. */
export async function openDataSource(
  settings: DatabaseSettings,
  options: OpenOptions = {},
): Promise<Database> {
  const dataSource = await createDataSource(settings, options);
  await options.check?.(dataSource);
  const file = fileOf(dataSource);
  try {
    if (file !== undefined) await checkUsable(file, MIGRATIONS_TABLE, EXPANSIONS_TABLE);
    return await withFileErrors(file, () => dataSource.initialize());
  } catch (error) {
    if (error instanceof UnusableDatabase) throw error;
    throw new Error(
      `Cannot open DATABASE_URL ${redactedDatabaseUrl(settings.databaseUrl)}: ${messageOf(error)}`,
      {
        cause: error,
      },
    );
  }
}

/**
 * Creates the DataSource for a DATABASE_URL, with all declared entities and migrations, without opening it. The service, the command line,
 * the tests and the TypeORM CLI (through ormconfig.ts) all use it.
 */
export async function createDataSource(
  settings: DatabaseSettings,
  { journal = 'write-ahead', isUnlimited = false, sessionName = 'petstore', tables }: OpenOptions = {},
): Promise<Database> {
  const { entities, migrations } = tables ?? (await declaredTables());
  const declared = {
    entities: entities as Type[],
    migrations: migrations as never[],
    migrationsTableName: MIGRATIONS_TABLE,
    migrationsTransactionMode: 'all',
    synchronize: false,
    logging: false,
  } as const;
  const address = readDatabaseUrl(settings.databaseUrl);
  if (address?.kind === 'postgres') {
    // Imported here so that a service on SQLite does not load the PostgreSQL driver.
    const { PostgresDataSource } = await import('./postgres/postgres-data-source.js');
    return new PostgresDataSource(declared, {
      address,
      sessionName,
      ca: settings.databaseCa ?? null,
      pool: settings.databasePool ?? DEFAULT_POOL,
      statementTimeoutMs: isUnlimited
        ? 0
        : (settings.databaseStatementTimeoutMs ?? DEFAULT_STATEMENT_TIMEOUT_MS),
    });
  }
  return new SqliteDataSource({
    type: 'sqlite',
    driver: QUIET_DRIVER,
    database: settings.databaseUrl.slice('sqlite:'.length),
    enableWAL: journal === 'write-ahead',
    busyTimeout: BUSY_TIMEOUT_MS,
    ...declared,
  });
}

/** The entities and migrations in src, and those of modules: by default, of the modules passed to tablesBelow(). */
export async function declaredTables(modules?: readonly unknown[]): Promise<Tables> {
  const [entities, migrations] = await Promise.all([declaredClasses('entity'), declaredClasses('migration')]);
  const { belongsElsewhere, ...added } = await registeredTables(modules);
  const own = <T extends Type>(found: readonly T[]): T[] => found.filter((one) => !belongsElsewhere(one));
  return {
    entities: distinct([...own(entities), ...added.entities]),
    migrations: distinct([...own(migrations as Tables['migrations']), ...added.migrations]),
  };
}

/** A module in src may register tables that are also found by file name. */
function distinct<T>(classes: readonly T[]): T[] {
  return [...new Set(classes)];
}

import type { Type } from '@nestjs/common';
import sqlite3 from 'sqlite3';
import {
  DEFAULT_POOL,
  DEFAULT_STATEMENT_TIMEOUT_MS,
  readDatabaseUrl,
  shownDatabaseUrl,
} from '../core/config/database-url.js';
import type { Settings } from '../core/config/settings.js';
import type { Database } from './database.js';
import { declaredClasses } from './declared-files.js';
import { SqliteDataSource, fileOf } from './sqlite/sqlite-data-source.js';
import { UnusableDatabase, messageOf, naming } from './sqlite/troubles/sqlite-errors.js';
import { checkUsable } from './sqlite/troubles/usable-file.js';
import { type Tables, registeredTables } from './tables.module.js';

/** How long a connection waits while another process has the SQLite file locked, in milliseconds. */
const BUSY_TIMEOUT_MS = 5_000;

/**
 * TypeORM turns on the verbose mode of sqlite3, which inspects every statement with its values so that an error has a longer
 * stack. It stays off here.
 */
const QUIET_DRIVER = { ...sqlite3, verbose: () => sqlite3 };

/** The table that records which migrations ran. */
export const MIGRATIONS_TABLE = 'schema_migrations';
/** The table that records which of the migrations only expand the schema. It is made first, in a separate transaction. */
export const EXPANSIONS_TABLE = 'schema_expansions';

/** Settings of the database; omitted ones have their defaults. */
export type DatabaseSettings = Pick<Settings, 'databaseUrl'> &
  Partial<Pick<Settings, 'databaseCa' | 'databasePool' | 'databaseStatementTimeoutMs'>>;

/** How a database is opened. */
export interface Opening {
  /** A file whose journal is left `as it is` is not turned into one with a write-ahead log. */
  readonly journal?: 'write-ahead' | 'as it is';
  /** Statements may take as long as they need: for migrations and copies. */
  readonly isPatient?: boolean;
  /** application_name of its sessions. */
  readonly sessionName?: string;
  /** Its entities and migrations; those of declaredTables() by default. */
  readonly tables?: Tables;
  /** Called with the DataSource before a file is created or read, or a server is contacted. */
  readonly check?: (declared: Database) => Promise<void>;
}

/** Opens the DataSource of a DATABASE_URL; throws an Error of one line that names it and says what to do. */
export async function openDataSource(settings: DatabaseSettings, opening: Opening = {}): Promise<Database> {
  const dataSource = await createDataSource(settings, opening);
  await opening.check?.(dataSource);
  const file = fileOf(dataSource);
  try {
    if (file !== undefined) await checkUsable(file, MIGRATIONS_TABLE, EXPANSIONS_TABLE);
    return await naming(file, () => dataSource.initialize());
  } catch (error) {
    if (error instanceof UnusableDatabase) throw error;
    throw new Error(
      `Cannot open DATABASE_URL ${shownDatabaseUrl(settings.databaseUrl)}: ${messageOf(error)}`,
      {
        cause: error,
      },
    );
  }
}

/**
 * The unopened DataSource for a DATABASE_URL, with every declared entity and migration. The service, the
 * command line, the tests and the TypeORM CLI (through ormconfig.ts) all take theirs from here.
 */
export async function createDataSource(
  settings: DatabaseSettings,
  { journal = 'write-ahead', isPatient = false, sessionName = 'petstore', tables }: Opening = {},
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
    // Only here: a service on SQLite never loads the driver.
    const { PostgresDataSource } = await import('./postgres/postgres-data-source.js');
    return new PostgresDataSource(declared, {
      address,
      sessionName,
      ca: settings.databaseCa ?? null,
      pool: settings.databasePool ?? DEFAULT_POOL,
      statementTimeoutMs: isPatient
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

/** The entities and migrations of src, and those below modules: by default those that tablesBelow() has named. */
export async function declaredTables(modules?: readonly unknown[]): Promise<Tables> {
  const [entities, migrations] = await Promise.all([declaredClasses('entity'), declaredClasses('migration')]);
  const { isOther, ...added } = await registeredTables(modules);
  const own = <T extends Type>(found: readonly T[]): T[] => found.filter((one) => !isOther(one));
  return {
    entities: distinct([...own(entities), ...added.entities]),
    migrations: distinct([...own(migrations as Tables['migrations']), ...added.migrations]),
  };
}

/** A module in src may name its tables too, although they are found. */
function distinct<T>(classes: readonly T[]): T[] {
  return [...new Set(classes)];
}

import { type Abstract, type FactoryProvider, Global, Logger, Module, type Type } from '@nestjs/common';
import { DiscoveryModule, ModulesContainer } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { readDatabaseUrl } from '../core/config/database-url.js';
import { Settings } from '../core/config/settings.js';
import { type OpenOptions, declaredTables, openDataSource } from './data-source.js';
import { DataVersion } from './data-version.js';
import { type Database, DeclarationChecks, JsonReader, WriteAvailability } from './database.js';
import { DatabaseMetrics } from './database-metrics.js';
import { DemoData } from './demo-data.js';
import { JsonRows } from './json-rows.js';
import { References } from './references.js';
import { checkSchema, migrate, migrateModeOf } from './schema.js';
import { Sweeper } from './sweeper.js';
import { Transactions } from './transactions/transactions.js';

const logger = new Logger('Database');

/** Opens the database, migrates its schema and provides TypeORM's DataSource, JsonRows and References to every module. */
@Global()
@Module({
  imports: [
    DiscoveryModule,
    TypeOrmModule.forRootAsync({
      inject: [Settings, DeclarationChecks, ModulesContainer],
      // data-source.ts creates the actual options; these only pass the settings and checks to it.
      useFactory: (settings: Settings, checks: DeclarationChecks, modules: ModulesContainer) => {
        const metatypes = [...modules.values()].map(({ metatype }) => metatype);
        const extra: OpenContext['extra'] = { settings, checks, modules: metatypes };
        return { type: 'sqlite', database: '', toRetry: () => false, extra };
      },
      dataSourceFactory: (options) => openDatabase((options as unknown as OpenContext).extra),
    }),
  ],
  providers: [
    DatabaseMetrics,
    DemoData,
    JsonRows,
    References,
    Sweeper,
    partOf(JsonReader, ({ reader }) => reader),
    partOf(WriteAvailability, ({ writeAvailability }) => writeAvailability),
    partOf(Transactions, ({ transactions }) => transactions),
    partOf(DataVersion, ({ dataVersion }) => dataVersion),
  ],
  exports: [
    DataVersion,
    DemoData,
    JsonReader,
    JsonRows,
    References,
    Sweeper,
    Transactions,
    WriteAvailability,
  ],
})
export class DatabaseModule {}

/** Carried in TypeORM's options to openDatabase(). */
interface OpenContext {
  readonly extra: {
    readonly settings: Settings;
    readonly checks: DeclarationChecks;
    readonly modules: readonly Type[];
  };
}

function partOf<T>(provide: Abstract<T>, part: (database: Database) => T): FactoryProvider<T> {
  return { provide, inject: [DataSource], useFactory: part };
}

async function openDatabase({ settings, checks, modules }: OpenContext['extra']): Promise<Database> {
  const mode = migrateModeOf(settings);
  const migratesSeparately = mode === 'auto' && readDatabaseUrl(settings.databaseUrl)?.kind === 'postgres';
  // On PostgreSQL, migrations run on separate connections without a statement timeout.
  const tables = await declaredTables(modules);
  const options = { tables, check: (declared: Database) => checks.check(declared) };
  if (migratesSeparately) await migrateSeparately(settings, options);
  const database = await openDataSource(settings, options);
  try {
    if (mode === 'auto' && !migratesSeparately) await migrate(database);
    else if (mode === 'check') await checkSchema(database);
    await probeDataVersion(database);
  } catch (error) {
    await database.destroy();
    throw error;
  }
  return database;
}

async function migrateSeparately(settings: Settings, options: OpenOptions): Promise<void> {
  const database = await openDataSource(settings, { ...options, isUnlimited: true });
  try {
    await migrate(database);
  } finally {
    await database.destroy();
  }
}

/**
 * Commits once and checks that this changes the version, which is not trusted until then. If the commit fails, the next one is the check.
 * On PostgreSQL, the version verifies itself when it is first read.
 */
async function probeDataVersion(database: Database): Promise<void> {
  if (database.options.type !== 'sqlite') return;
  try {
    await database.transactions.uncached((manager) => manager.query('SELECT 1'));
  } catch (error) {
    logger.warn(`No commit has succeeded yet (${String(error)}). Nothing is cached until a commit succeeds.`);
  }
}

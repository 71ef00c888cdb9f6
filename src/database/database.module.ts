import { type Abstract, type FactoryProvider, Global, Logger, Module, type Type } from '@nestjs/common';
import { DiscoveryModule, ModulesContainer } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { readDatabaseUrl } from '../core/config/database-url.js';
import { Settings } from '../core/config/settings.js';
import { type Opening, declaredTables, openDataSource } from './data-source.js';
import { DataVersion } from './data-version.js';
import { type Database, DeclarationChecks, JsonReader, WriteTrouble } from './database.js';
import { DatabaseMetrics } from './database-metrics.js';
import { DemoData } from './demo-data.js';
import { JsonRows } from './json-rows.js';
import { References } from './references.js';
import { checkSchema, migrate, migrateModeOf } from './schema.js';
import { Sweeper } from './sweeper.js';
import { Transactions } from './transactions/transactions.js';

const logger = new Logger('Database');

/** Opens the database, brings its schema up to date and provides TypeORM's DataSource, JsonRows and References to every module. */
@Global()
@Module({
  imports: [
    DiscoveryModule,
    TypeOrmModule.forRootAsync({
      inject: [Settings, DeclarationChecks, ModulesContainer],
      // The options are made in data-source.ts; this module only carries the settings and the checks there.
      useFactory: (settings: Settings, checks: DeclarationChecks, modules: ModulesContainer) => {
        const metatypes = [...modules.values()].map(({ metatype }) => metatype);
        const extra: Carried['extra'] = { settings, checks, modules: metatypes };
        return { type: 'sqlite', database: '', toRetry: () => false, extra };
      },
      dataSourceFactory: (options) => openDatabase((options as unknown as Carried).extra),
    }),
  ],
  providers: [
    DatabaseMetrics,
    DemoData,
    JsonRows,
    References,
    Sweeper,
    offered(JsonReader, ({ reader }) => reader),
    offered(WriteTrouble, ({ writeTrouble }) => writeTrouble),
    offered(Transactions, ({ transactions }) => transactions),
    offered(DataVersion, ({ dataVersion }) => dataVersion),
  ],
  exports: [DataVersion, DemoData, JsonReader, JsonRows, References, Sweeper, Transactions, WriteTrouble],
})
export class DatabaseModule {}

/** What the options of TypeORM carry to where the database is opened. */
interface Carried {
  readonly extra: {
    readonly settings: Settings;
    readonly checks: DeclarationChecks;
    readonly modules: readonly Type[];
  };
}

/** A part of the opened database, which TypeORM's module provides as its DataSource. */
function offered<T>(provide: Abstract<T>, part: (database: Database) => T): FactoryProvider<T> {
  return { provide, inject: [DataSource], useFactory: part };
}

async function openDatabase({ settings, checks, modules }: Carried['extra']): Promise<Database> {
  const mode = migrateModeOf(settings);
  const isAlone = mode === 'auto' && readDatabaseUrl(settings.databaseUrl)?.kind === 'postgres';
  // There migrations have separate connections, whose statements may take longer than those of requests.
  const tables = await declaredTables(modules);
  const opening = { tables, check: (declared: Database) => checks.check(declared) };
  if (isAlone) await migrateAlone(settings, opening);
  const database = await openDataSource(settings, opening);
  try {
    if (mode === 'auto' && !isAlone) await migrate(database);
    else if (mode === 'check') await checkSchema(database);
    await proveVersion(database);
  } catch (error) {
    await database.destroy();
    throw error;
  }
  return database;
}

async function migrateAlone(settings: Settings, opening: Opening): Promise<void> {
  const database = await openDataSource(settings, { ...opening, isPatient: true });
  try {
    await migrate(database);
  } finally {
    await database.destroy();
  }
}

/**
 * Commits something, which the version must show before it is relied on. Where that is not possible now, the next commit is it. On
 * PostgreSQL the version proves itself when it is first read.
 */
async function proveVersion(database: Database): Promise<void> {
  if (database.options.type !== 'sqlite') return;
  try {
    await database.transactions.uncached((manager) => manager.query('SELECT 1'));
  } catch (error) {
    logger.warn(
      `Nothing could be committed yet (${String(error)}); nothing is cached until a commit succeeds.`,
    );
  }
}

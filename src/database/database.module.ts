import { type Abstract, type FactoryProvider, Global, Logger, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Settings } from '../config/settings.js';
import { CacheNeutralWrites } from './cache-neutral-writes.js';
import { openDataSource } from './data-source.js';
import { DataVersion } from './data-version.js';
import { type Database, JsonReader } from './database.js';
import { DemoData } from './demo-data.js';
import { JsonRows } from './json-rows.js';
import { migrate } from './schema.js';
import { WriteTrouble } from './sqlite/troubles/access-trouble.js';
import { WriteProbe } from './sqlite/troubles/write-probe.js';
import { Sweeper } from './sweeper.js';
import { Transactions } from './transactions.js';
import './constraint-violations.js';

const logger = new Logger('Database');

/** Opens the database, brings its schema up to date and provides TypeORM's DataSource, and JsonRows to every module. */
@Global()
@Module({
  imports: [
    DiscoveryModule,
    TypeOrmModule.forRootAsync({
      inject: [Settings],
      // The options are made in data-source.ts; this module only carries the setting there.
      useFactory: ({ databaseUrl }: Settings) => ({
        type: 'sqlite',
        database: databaseUrl,
        toRetry: () => false,
      }),
      dataSourceFactory: (options) => openDatabase(String(options?.database)),
    }),
  ],
  providers: [
    DemoData,
    JsonRows,
    CacheNeutralWrites,
    Sweeper,
    WriteProbe,
    offered(JsonReader, ({ reader }) => reader),
    offered(WriteTrouble, ({ writeTrouble }) => writeTrouble),
    offered(Transactions, ({ transactions }) => transactions),
    offered(DataVersion, ({ dataVersion }) => dataVersion),
  ],
  exports: [
    DataVersion,
    DemoData,
    JsonReader,
    JsonRows,
    CacheNeutralWrites,
    Sweeper,
    Transactions,
    WriteTrouble,
  ],
})
export class DatabaseModule {}

/** A part of the opened database, which TypeORM's module provides as its DataSource. */
function offered<T>(provide: Abstract<T>, part: (database: Database) => T): FactoryProvider<T> {
  return { provide, inject: [DataSource], useFactory: part };
}

async function openDatabase(databaseUrl: string): Promise<Database> {
  const database = await openDataSource({ databaseUrl });
  try {
    await migrate(database);
    await proveVersion(database);
  } catch (error) {
    await database.destroy();
    throw error;
  }
  return database;
}

/** Commits something, which the version must show before it is relied on. Where that is not possible now, the next commit is it. */
async function proveVersion(database: Database): Promise<void> {
  try {
    await new CacheNeutralWrites(database, database.dataVersion, database.transactions).run(() =>
      Promise.resolve(),
    );
  } catch (error) {
    logger.warn(`Nothing could be committed yet (${String(error)}); nothing is cached until something is.`);
  }
}

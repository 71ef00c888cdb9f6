import { Global, Logger, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Settings } from '../config/settings.js';
import { CacheNeutralWrites } from './cache-neutral-writes.js';
import { openDataSource } from './data-source.js';
import { DataVersion, UnknownDataVersion } from './data-version.js';
import { DemoData } from './demo-data.js';
import { GroupedInserts } from './grouped-inserts.js';
import { JsonReader } from './json-reader.js';
import { JsonRows } from './json-rows.js';
import { migrate } from './schema.js';
import { SqliteDataSource } from './sqlite/sqlite-data-source.js';
import { WriteTrouble } from './sqlite/troubles/access-trouble.js';
import { WriteProbe } from './sqlite/troubles/write-probe.js';
import { WalDataVersion } from './sqlite/wal-data-version.js';
import { Sweeper } from './sweeper.js';
import { Transactions } from './transactions.js';

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
    GroupedInserts,
    JsonRows,
    CacheNeutralWrites,
    Sweeper,
    {
      provide: JsonReader,
      inject: [DataSource],
      useFactory: (dataSource: DataSource) => readerOf(dataSource),
    },
    {
      provide: WriteTrouble,
      inject: [DataSource],
      useFactory: (dataSource: DataSource) =>
        dataSource instanceof SqliteDataSource
          ? dataSource.troubles.writes
          : new WriteTrouble('The database'),
    },
    WriteProbe,
    {
      provide: Transactions,
      inject: [DataSource],
      useFactory: (dataSource: DataSource) => transactionsOf(dataSource),
    },
    {
      provide: DataVersion,
      inject: [DataSource],
      useFactory: (dataSource: DataSource) =>
        dataSource instanceof SqliteDataSource ? dataSource.dataVersion : new UnknownDataVersion(),
    },
  ],
  exports: [
    DataVersion,
    DemoData,
    GroupedInserts,
    JsonReader,
    JsonRows,
    CacheNeutralWrites,
    Sweeper,
    Transactions,
    WriteTrouble,
  ],
})
export class DatabaseModule {}

function readerOf(dataSource: DataSource): JsonReader {
  if (dataSource instanceof SqliteDataSource) return dataSource.reader;
  throw new Error(`Nobody reads JSON from ${dataSource.options.type} yet.`);
}

function transactionsOf(dataSource: DataSource): Transactions {
  if (dataSource instanceof SqliteDataSource) return dataSource.transactions;
  throw new Error(`Nobody takes part in the transactions of ${dataSource.options.type} yet.`);
}

async function openDatabase(databaseUrl: string): Promise<DataSource> {
  const dataSource = await openDataSource({ databaseUrl });
  try {
    await migrate(dataSource);
    if (dataSource instanceof SqliteDataSource) await proveState(dataSource);
  } catch (error) {
    await dataSource.destroy();
    throw error;
  }
  return dataSource;
}

/** Commits something, which the state must show before it is relied on. Where that is not possible now, the next commit is it. */
async function proveState(dataSource: SqliteDataSource): Promise<void> {
  if (!(dataSource.dataVersion instanceof WalDataVersion)) return;
  try {
    await new CacheNeutralWrites(dataSource, dataSource.dataVersion, dataSource.transactions).run(() =>
      Promise.resolve(),
    );
  } catch (error) {
    logger.warn(`Nothing could be committed yet (${String(error)}); nothing is cached until something is.`);
  }
}

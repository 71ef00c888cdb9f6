import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { Settings } from '../config/settings.js';
import { openDataSource } from './data-source.js';
import { DemoData } from './demo-data.js';
import { migrate } from './schema.js';

/** Opens the database, brings its schema up to date and provides TypeORM's DataSource. */
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
  providers: [DemoData],
  exports: [DemoData],
})
export class DatabaseModule {}

async function openDatabase(databaseUrl: string): Promise<DataSource> {
  const dataSource = await openDataSource({ databaseUrl });
  try {
    await migrate(dataSource);
  } catch (error) {
    await dataSource.destroy();
    throw error;
  }
  return dataSource;
}

import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { MigrationInterface } from 'typeorm';

/** The tables of a module: their entities, and the migrations that make and change them. */
export interface Tables {
  readonly entities: readonly Type[];
  /** Their order here does not matter: the time in milliseconds that ends the name of each class decides. */
  readonly migrations: readonly Type<MigrationInterface>[];
}

const entities = new Set<Type>();
const migrations = new Set<Type<MigrationInterface>>();

/** Brings the tables of a module that does not lie in src, where they would be found by their file names. */
@Module({})
export class TablesModule {
  /**
   * Provides the repositories of the entities, as TypeOrmModule.forFeature() does, and adds entities and migrations to the
   * database of the service, the command line and the TypeORM CLI. Call it where the module is put together (`imports` of
   * `@Module()`, `forRoot()`): the database is opened with what was added until then.
   */
  static forFeature(tables: Tables): DynamicModule {
    for (const entity of tables.entities) entities.add(entity);
    for (const migration of tables.migrations) migrations.add(migration);
    return TypeOrmModule.forFeature([...tables.entities]);
  }
}

/** The tables that modules have brought so far. */
export function addedTables(): Tables {
  return { entities: [...entities], migrations: [...migrations] };
}

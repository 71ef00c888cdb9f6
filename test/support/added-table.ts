import { Module, type Type } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { type MigrationInterface, type QueryRunner, Table, TableForeignKey } from 'typeorm';
import { TablesModule } from '../../src/database/tables.module.js';

/** A module that offers the repository of an entity, whose table a migration makes as the entity declares it. */
export function addedTable(entity: Type): Type {
  class Added1799600000001 implements MigrationInterface {
    readonly name = `Added${entity.name}1799600000001`;

    async up(runner: QueryRunner): Promise<void> {
      const { connection } = runner;
      const metadata = connection.getMetadata(entity);
      await runner.createTable(Table.create(metadata, connection.driver));
      for (const key of metadata.foreignKeys)
        await runner.createForeignKey(metadata.tablePath, TableForeignKey.create(key, connection.driver));
    }

    async down(): Promise<void> {}
  }
  @Module({
    imports: [TablesModule.forFeature({ entities: [entity], migrations: [Added1799600000001] })],
    exports: [TypeOrmModule],
  })
  class TableModule {}
  return TableModule;
}

import { Module, type Type } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { type MigrationInterface, type QueryRunner, Table, TableForeignKey } from 'typeorm';
import { TablesModule } from '../../src/database/tables.module.js';

/** A module that provides the repository of an entity. A migration creates its tables from the entity's declaration. */
export function addedTable(entity: Type): Type {
  class Added1799600000001 implements MigrationInterface {
    readonly name = `Added${entity.name}1799600000001`;

    async up(runner: QueryRunner): Promise<void> {
      const { connection } = runner;
      const metadata = connection.getMetadata(entity);
      const owned = metadata.ownRelations.filter(({ isOwning }) => isOwning);
      const junctions = owned.flatMap((one) => one.junctionEntityMetadata ?? []);
      const { closureJunctionTable, schema } = metadata;
      if (schema !== undefined && connection.options.type === 'postgres')
        await runner.createSchema(schema, true);
      // According to TypeORM's types, it is always defined.
      const closures = metadata.treeType === 'closure-table' ? [closureJunctionTable] : [];
      for (const made of [metadata, ...junctions, ...closures]) {
        await runner.createTable(Table.create(made, connection.driver));
        for (const key of made.foreignKeys)
          await runner.createForeignKey(made.tablePath, TableForeignKey.create(key, connection.driver));
      }
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

import { Inject, Injectable, Module, type OnModuleInit, type Type } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';

const STATEMENTS = Symbol('statements');
const ENTITY = Symbol('entity');

/** Makes the table of an entity that a suite declares; entities of the service are found by their file names. */
@Injectable()
class AddedTable implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    @Inject(ENTITY) private readonly entity: Type,
    @Inject(STATEMENTS) private readonly statements: readonly string[],
  ) {}

  async onModuleInit(): Promise<void> {
    const { dataSource, entity, statements } = this;
    dataSource.setOptions({ entities: [...(dataSource.options.entities as Type[]), entity] });
    // What TypeORM calls at its start.
    await (dataSource as unknown as { buildMetadatas(): Promise<void> }).buildMetadatas();
    const numbered = dataSource.options.type === 'postgres' ? 'bigserial PRIMARY KEY' : undefined;
    for (const statement of statements)
      await dataSource.query(
        numbered === undefined
          ? statement
          : statement
              .replace('integer PRIMARY KEY AUTOINCREMENT', numbered)
              .replace('datetime', 'timestamp')
              // As columns are that migrations make by TypeORM's Table.
              .replaceAll(/varchar\(\d+\)/g, '$& COLLATE "C"'),
      );
  }
}

/** A module that offers the repository of an entity whose table these statements make. */
export function addedTable(entity: Type, statements: readonly string[]): Type {
  @Module({
    imports: [TypeOrmModule.forFeature([entity])],
    providers: [
      AddedTable,
      { provide: ENTITY, useValue: entity },
      { provide: STATEMENTS, useValue: statements },
    ],
    exports: [TypeOrmModule],
  })
  class TableModule {}
  return TableModule;
}

import { DataSource, type DataSourceOptions, type EntityMetadata, type ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import type { SqliteDriver } from 'typeorm/driver/sqlite/SqliteDriver.js';
import { ConnectionTurns } from './connection-turns.js';
import { ExactSelectQueryBuilder } from './exact-select-query-builder.js';
import { SerialQueryRunner } from './serial-query-runner.js';

/** TypeORM's DataSource on SQLite with its three faults mended: shared transactions, rounded int64, numeric ids. */
export class SqliteDataSource extends DataSource {
  constructor(options: DataSourceOptions) {
    super(options);
    const driver = this.driver as SqliteDriver;
    const turns = new ConnectionTurns();
    driver.createQueryRunner = () => new SerialQueryRunner(driver, turns);
    const createGeneratedMap = driver.createGeneratedMap.bind(driver);
    driver.createGeneratedMap = (metadata: EntityMetadata, insertResult: unknown, index: number, count: number) =>
      throughTransformers(metadata, createGeneratedMap(metadata, insertResult, index, count));
  }

  override async initialize(): Promise<this> {
    await super.initialize();
    // Acknowledged means on disk: the write-ahead log is synced at every commit.
    await this.query('PRAGMA synchronous = FULL');
    return this;
  }

  override createQueryBuilder(...args: unknown[]): never {
    const builder = (super.createQueryBuilder as (...args: unknown[]) => SelectQueryBuilder<ObjectLiteral>)(...args);
    return new ExactSelectQueryBuilder(builder) as never;
  }
}

/** TypeORM sets a generated id on the entity as SQLite's number, without the column's transformer. */
function throughTransformers(
  metadata: EntityMetadata,
  generated: ObjectLiteral | undefined,
): ObjectLiteral | undefined {
  if (!generated) return generated;
  for (const column of metadata.generatedColumns) {
    const value: unknown = column.getEntityValue(generated);
    const transformer = column.transformer;
    if (typeof value === 'number' && transformer && !Array.isArray(transformer)) {
      column.setEntityValue(generated, transformer.from(value));
    }
  }
  return generated;
}

import {
  DataSource,
  type DataSourceOptions,
  type EntityMetadata,
  type ObjectLiteral,
  type SelectQueryBuilder,
} from 'typeorm';
import type { SqliteDriver } from 'typeorm/driver/sqlite/SqliteDriver.js';
import { OwnWrites, type CommittedState } from '../committed-state.js';
import { ConnectionTurns } from './connection-turns.js';
import { int64Transformer } from '../int64.js';
import { ExactSelectQueryBuilder } from './exact-select-query-builder.js';
import { SerialQueryRunner } from './serial-query-runner.js';
import { WalIndexState } from './wal-index-state.js';

/** TypeORM's DataSource on SQLite with its three faults mended: shared transactions, rounded int64, numeric ids. */
export class SqliteDataSource extends DataSource {
  /** Whether anything was committed, by this process or another. */
  readonly committed: CommittedState;

  constructor(options: DataSourceOptions) {
    super(options);
    const driver = this.driver as SqliteDriver;
    const turns = new ConnectionTurns();
    const file = String(options.database);
    const ownWrites = new OwnWrites();
    this.committed = file === ':memory:' ? ownWrites : new WalIndexState(file);
    driver.createQueryRunner = () => new SerialQueryRunner(driver, turns, ownWrites);
    driver.createGeneratedMap = generatedIds;
  }

  override async initialize(): Promise<this> {
    await super.initialize();
    // Acknowledged means on disk: the write-ahead log is synced at every commit.
    await this.query('PRAGMA synchronous = FULL');
    return this;
  }

  override createQueryBuilder(...args: unknown[]): never {
    const builder = (super.createQueryBuilder as (...args: unknown[]) => SelectQueryBuilder<ObjectLiteral>)(
      ...args,
    );
    return new ExactSelectQueryBuilder(builder) as never;
  }
}

/**
 * The ids that SQLite gave the rows of one INSERT, counted back from the last. TypeORM's own version computes
 * with doubles and passes the column's transformer by.
 */
function generatedIds(
  metadata: EntityMetadata,
  lastId: number | bigint | undefined,
  index: number,
  count: number,
): ObjectLiteral | undefined {
  const column = metadata.generatedColumns.find(
    ({ generationStrategy }) => generationStrategy === 'increment',
  );
  if (!column || lastId === undefined) return undefined;
  const id = BigInt(lastId) - BigInt(count - index - 1);
  return column.createValueMap(column.transformer === int64Transformer ? id : Number(id));
}

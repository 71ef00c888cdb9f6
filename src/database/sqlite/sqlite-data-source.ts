import {
  DataSource,
  type DataSourceOptions,
  type EntityManager,
  type EntityMetadata,
  type ObjectLiteral,
  type QueryRunner,
  type SelectQueryBuilder,
} from 'typeorm';
import type { SqliteConnectionOptions } from 'typeorm/driver/sqlite/SqliteConnectionOptions.js';
import type { SqliteDriver } from 'typeorm/driver/sqlite/SqliteDriver.js';
import { OwnWrites, type CommittedState } from '../committed-state.js';
import type { JsonReader } from '../json-reader.js';
import { int64Transformer } from '../int64.js';
import type { Transactions } from '../transactions.js';
import { WriteTrouble } from '../write-trouble.js';
import { ExactSelectQueryBuilder } from './exact-select-query-builder.js';
import { JoiningEntityManager } from './joining-entity-manager.js';
import { OwnConnection, ReadConnection } from './read-connection.js';
import type { PlainReads } from './plain-reads.js';
import { SqliteConnection } from './sqlite-connection.js';
import { SqliteTransactions } from './sqlite-transactions.js';
import { WalIndexState } from './wal-index-state.js';

/** TypeORM's DataSource on SQLite with its three faults mended: shared transactions, rounded int64, numeric ids. */
export class SqliteDataSource extends DataSource {
  /** Whether anything was committed, by this process or another. */
  readonly committed: CommittedState;
  /** Reads what is committed, from when this is initialized. */
  reader: JsonReader = new OwnConnection(this);
  /** In which repositories take part by themselves. */
  readonly transactions: Transactions;

  /** Whether it can be written. */
  readonly trouble: WriteTrouble;
  private readonly plainReads: PlainReads;

  constructor(options: DataSourceOptions) {
    super(options);
    const driver = this.driver as SqliteDriver;
    const file = String(options.database);
    this.trouble = new WriteTrouble(file);
    const ownWrites = new OwnWrites();
    this.committed = file === ':memory:' ? ownWrites : new WalIndexState(file);
    const connection = new SqliteConnection(driver, ownWrites, this.trouble);
    this.plainReads = connection.reads;
    const transactions = new SqliteTransactions(this, driver, connection);
    this.transactions = transactions;
    driver.createQueryRunner = () => transactions.createQueryRunner();
    driver.createGeneratedMap = generatedIds;
  }

  override async initialize(): Promise<this> {
    await super.initialize();
    // Acknowledged means on disk: the write-ahead log is synced at every commit.
    await this.query('PRAGMA synchronous = FULL');
    const { database, busyTimeout = 0 } = this.options as SqliteConnectionOptions;
    // A database in memory has no other connection.
    if (database === ':memory:') return this;
    this.reader = await ReadConnection.open(this, database, busyTimeout);
    await this.plainReads.open(database, busyTimeout);
    return this;
  }

  override async destroy(): Promise<void> {
    if (this.reader instanceof ReadConnection) await this.reader.close();
    this.reader = new OwnConnection(this);
    await this.plainReads.close();
    await super.destroy();
  }

  override createEntityManager(queryRunner?: QueryRunner): EntityManager {
    return new JoiningEntityManager(this, queryRunner);
  }

  override createQueryBuilder(...args: unknown[]): never {
    const builder = (super.createQueryBuilder as (...args: unknown[]) => SelectQueryBuilder<ObjectLiteral>)(
      ...args,
    );
    return new ExactSelectQueryBuilder(builder) as never;
  }
}

/** The file of a DataSource, as DATABASE_URL names it; undefined when it keeps its data elsewhere. */
export function fileOf({ options }: DataSource): string | undefined {
  return options.type === 'sqlite' && options.database !== ':memory:' ? options.database : undefined;
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

import { resolve } from 'node:path';
import { Logger } from '@nestjs/common';
import type { DataSource, DataSourceOptions } from 'typeorm';
import type { SqliteConnectionOptions } from 'typeorm/driver/sqlite/SqliteConnectionOptions.js';
import type { SqliteDriver } from 'typeorm/driver/sqlite/SqliteDriver.js';
import { OwnWritesVersion } from '../data-version.js';
import { type ConnectionLoad, Database, type JsonReader } from '../database.js';
import { readDecimalsAsText } from '../decimals.js';
import { SQLITE_DIALECT } from '../dialect.js';
import { Transactions } from '../transactions/transactions.js';
import { generatedNumbers } from './exact-insert-query-builder.js';
import { writeDoublesExactly } from './exact-parameters.js';
import { ExactSelectQueryBuilder } from './exact-select-query-builder.js';
import { OwnConnection, ReadConnection } from './read-connection.js';
import { SerialQueryRunner } from './serial-query-runner.js';
import { SqliteWriter } from './sqlite-writer.js';
import { DatabaseFiles } from './troubles/database-files.js';
import { DatabaseTroubles } from './troubles/database-troubles.js';
import { probeWrites } from './troubles/write-probe.js';
import { WalDataVersion } from './wal-data-version.js';
import { LOCK_TRY_MS } from './write-lock.js';

const logger = new Logger('Database');

/**
 * TypeORM's DataSource on SQLite, with three of its faults corrected: transactions that concurrent callers share, rounded int64,
 * and generated ids as doubles.
 */
export class SqliteDataSource extends Database {
  readonly dialect = SQLITE_DIALECT;
  /** A server locks a file beside it (ServerLock). */
  readonly instanceSession = undefined;
  /** Whether anything was committed, by this process or another. */
  readonly dataVersion: OwnWritesVersion | WalDataVersion;
  /** Reads committed data, once the data source is initialized. */
  reader: JsonReader = new OwnConnection(this);
  /** The transactions, in which repositories take part by themselves. */
  readonly transactions: Transactions;
  /** Whether the files are still those that were opened. */
  readonly files = new DatabaseFiles();

  /** What the results of statements have shown to be wrong with the database. */
  readonly troubles: DatabaseTroubles;
  protected readonly queryBuilder = ExactSelectQueryBuilder;
  private readonly writer: SqliteWriter;
  private endProbe: (() => void) | undefined;

  constructor(options: DataSourceOptions) {
    super(options);
    const driver = this.driver as SqliteDriver;
    const file = String(options.database);
    this.troubles = new DatabaseTroubles(file, this.files);
    this.dataVersion = file === ':memory:' ? new OwnWritesVersion() : new WalDataVersion(this.files);
    this.writer = new SqliteWriter(driver, this.dataVersion, this.files, this.troubles);
    this.transactions = new Transactions(this, 'SERIALIZABLE', (how) => this.writer.open(how));
    driver.createQueryRunner = () => new SerialQueryRunner(driver, this.writer, this.transactions);
    driver.createGeneratedMap = generatedNumbers;
    readDecimalsAsText(driver);
    writeDoublesExactly(driver);
    // TypeORM writes no RETURNING for SQLite; ExactInsertQueryBuilder does.
    driver.isReturningSqlSupported = (of?: string) => of === 'insert';
  }

  get load(): ConnectionLoad {
    const { taken, waiting } = this.writer.load;
    return { inUse: taken, idle: 1 - taken, waiting, max: 1 };
  }

  get writeTrouble(): DatabaseTroubles {
    return this.troubles;
  }

  override async initialize(): Promise<this> {
    const file = fileOf(this);
    if (file !== undefined) this.files.recordBefore(file);
    try {
      await super.initialize();
    } catch (error) {
      // SQLite makes no journal for a file that has lost its name, and says only that it may not be written.
      if (file !== undefined) this.files.refuseReplaced(file);
      throw error;
    }
    // A commit is acknowledged only when it is on disk: the write-ahead log is synced at every commit.
    await this.query('PRAGMA synchronous = FULL');
    await this.query(`PRAGMA busy_timeout = ${LOCK_TRY_MS}`);
    try {
      if (file !== undefined) await this.openFile(file);
    } catch (error) {
      await this.destroy();
      throw error;
    }
    return this;
  }

  override async destroy(): Promise<void> {
    this.files.end();
    this.endProbe?.();
    if (this.reader instanceof ReadConnection) await this.reader.close();
    await this.writer.reads.close();
    if (this.isInitialized) this.writer.connection.finalize();
    this.reader = new OwnConnection(this);
    await super.destroy();
  }

  /** Migrations begin with the write lock of the file; a second process tries again. */
  async whileMigrating<T>(work: () => Promise<T>): Promise<T> {
    this.transactions.allowsIdling = true;
    try {
      return await work();
    } finally {
      this.transactions.allowsIdling = false;
    }
  }

  /** Starts to watch the files and opens the connections for reads. */
  private async openFile(file: string): Promise<void> {
    const { enableWAL = false, busyTimeout = 0 } = this.options as SqliteConnectionOptions;
    // SQLite resolves links and creates the log beside the target, so its path is read from it.
    const [main] = await this.query<{ file: string }[]>('PRAGMA database_list');
    const [mode] = await this.query<{ journal_mode: string }[]>('PRAGMA journal_mode');
    // The first read opens the log.
    await this.query('SELECT COUNT(*) FROM sqlite_master');
    const resolved = main?.file ?? file;
    const hasLog = mode?.journal_mode === 'wal';
    if (hasLog && this.dataVersion instanceof WalDataVersion) this.dataVersion.watch(`${resolved}-shm`);
    if (!hasLog && enableWAL) logger.warn(`${resolved} ${WITHOUT_LOG}`);
    this.files.watch(resolve(file), resolved, hasLog);
    this.reader = await ReadConnection.open(this, resolved, busyTimeout);
    await this.writer.reads.open(resolved, busyTimeout);
    this.files.confirm();
    this.files.refuseReplaced(file);
    this.endProbe = probeWrites(file, this.troubles, this.transactions);
  }
}

/** The file of a DataSource, as DATABASE_URL names it; undefined when it keeps its data elsewhere. */
export function fileOf({ options }: DataSource): string | undefined {
  return options.type === 'sqlite' && options.database !== ':memory:' ? options.database : undefined;
}

/** Whether the data of a DataSource ends with the process. */
export function isInMemory({ options }: DataSource): boolean {
  return options.type === 'sqlite' && options.database === ':memory:';
}

const WITHOUT_LOG =
  'has no write-ahead log, because its file system does not support shared memory. Nothing is cached, and reads wait for writes. ' +
  'Move the database to a local file system.';

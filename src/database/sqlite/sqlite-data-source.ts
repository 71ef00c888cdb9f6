import { resolve } from 'node:path';
import { Logger } from '@nestjs/common';
import type { DataSource, DataSourceOptions } from 'typeorm';
import type { SqliteConnectionOptions } from 'typeorm/driver/sqlite/SqliteConnectionOptions.js';
import type { SqliteDriver } from 'typeorm/driver/sqlite/SqliteDriver.js';
import { type CachedKind, OwnWritesVersion } from '../data-version.js';
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
import { DatabaseFiles } from './availability/database-files.js';
import { SqliteAvailability } from './availability/sqlite-availability.js';
import { probeWrites } from './availability/write-probe.js';
import { WalDataVersion } from './wal-data-version.js';
import { LOCK_TRY_MS } from './write-lock.js';

const logger = new Logger('Database');

/**
 * TypeORM's DataSource on SQLite without three of its defects: transactions shared by concurrent callers, rounded int64, and generated ids
 * as doubles.
 */
export class SqliteDataSource extends Database {
  readonly dialect = SQLITE_DIALECT;
  /** Undefined, because a server locks a file next to the database (ServerLock). */
  readonly instanceSession = undefined;
  /** Detects commits by this process or another. */
  readonly dataVersion: OwnWritesVersion | WalDataVersion;
  /** Reads committed data, once the data source is initialized. */
  reader: JsonReader = new OwnConnection(this);
  readonly transactions: Transactions;
  /** Detects that the opened files were removed or replaced. */
  readonly files = new DatabaseFiles();

  /** Failures of the database, derived from the results of statements. */
  readonly availability: SqliteAvailability;
  protected readonly queryBuilder = ExactSelectQueryBuilder;
  private readonly writer: SqliteWriter;
  private endProbe: (() => void) | undefined;

  constructor(options: DataSourceOptions) {
    super(options);
    const driver = this.driver as SqliteDriver;
    const file = String(options.database);
    this.availability = new SqliteAvailability(file, this.files);
    this.dataVersion = file === ':memory:' ? new OwnWritesVersion() : new WalDataVersion(this.files);
    this.writer = new SqliteWriter(driver, this.dataVersion, this.files, this.availability);
    this.transactions = new Transactions(this, 'SERIALIZABLE', (how) => this.writer.open(how));
    driver.createQueryRunner = () => new SerialQueryRunner(driver, this.writer, this.transactions);
    driver.createGeneratedMap = generatedNumbers;
    readDecimalsAsText(driver);
    writeDoublesExactly(driver);
    // TypeORM does not generate RETURNING for SQLite; ExactInsertQueryBuilder does.
    driver.isReturningSqlSupported = (of?: string) => of === 'insert';
  }

  get load(): ConnectionLoad {
    const { inUse, waiting } = this.writer.load;
    return { inUse, idle: 1 - inUse, waiting, max: 1 };
  }

  get writeAvailability(): SqliteAvailability {
    return this.availability;
  }

  autocommit<Row>(
    sql: string,
    parameters: readonly unknown[],
    invalidates: readonly CachedKind[],
  ): Promise<readonly Row[]> {
    return this.writer.autocommit(sql, parameters, invalidates);
  }

  override async initialize(): Promise<this> {
    const file = fileOf(this);
    if (file !== undefined) this.files.recordBefore(file);
    try {
      await super.initialize();
    } catch (error) {
      // If a file has lost its name, SQLite cannot create a journal and reports only that the file is read-only.
      if (file !== undefined) this.files.refuseReplaced(file);
      throw error;
    }
    // A commit is acknowledged only after it is on disk, because the write-ahead log is synced at every commit.
    await this.query('PRAGMA synchronous = FULL');
    await this.query(`PRAGMA busy_timeout = ${LOCK_TRY_MS}`);
    // Overwrites deleted rows, because the names of an erased client would otherwise stay readable in the free space of the file.
    await this.query('PRAGMA secure_delete = ON');
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

  /** Migrations start by taking the file's write lock; a second process retries. */
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
    // SQLite resolves links and creates the log next to the target, so its path is read from SQLite.
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
    this.endProbe = probeWrites(file, this.availability, this.transactions);
  }
}

/** The file of a DataSource as given in DATABASE_URL; undefined if its data is stored elsewhere. */
export function fileOf({ options }: DataSource): string | undefined {
  return options.type === 'sqlite' && options.database !== ':memory:' ? options.database : undefined;
}

/** Whether the data of a DataSource is lost when the process exits. */
export function isInMemory({ options }: DataSource): boolean {
  return options.type === 'sqlite' && options.database === ':memory:';
}

const WITHOUT_LOG =
  'has no write-ahead log, because its file system does not support shared memory. Nothing is cached, and reads wait for writes. ' +
  'Move the database to a local file system.';

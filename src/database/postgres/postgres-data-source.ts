import { setTimeout as pause } from 'node:timers/promises';
import type { QueryRunner } from 'typeorm';
import type { PostgresConnectionOptions } from 'typeorm/driver/postgres/PostgresConnectionOptions.js';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { type ConnectionLoad, Database, type JsonReader } from '../database.js';
import { readDecimalsAsText } from '../decimals.js';
import { POSTGRES_DIALECT } from '../dialect.js';
import { generatedValues } from '../returning-insert-query-builder.js';
import type { TransactionOptions } from '../transactions/transaction-session.js';
import { Transactions } from '../transactions/transactions.js';
import { compareNumericDefaults, adaptForPostgres } from './columns.js';
import { KeyedSelectQueryBuilder } from './keyed-insert-query-builder.js';
import { MigrationRunner } from './migration-runner.js';
import { NamedReads } from './named-reads.js';
import { checkOwnSessions } from './own-sessions.js';
import { codeOf, isDenied, openingFailure } from './postgres-errors.js';
import type { PostgresOptions } from './postgres-options.js';
import { PostgresPool } from './postgres-pool.js';
import type { PostgresAvailability } from './postgres-availability.js';
import { PostgresRunner } from './postgres-runner.js';
import { PostgresSession } from './postgres-session.js';
import { LockSession } from './lock-session.js';
import { SnapshotVersion } from './snapshot-version.js';

/** TypeORM's DataSource on PostgreSQL. Callers automatically join their transaction, and int64 stays exact. */
export class PostgresDataSource extends Database {
  readonly dialect = POSTGRES_DIALECT;
  readonly dataVersion: SnapshotVersion;
  readonly reader: JsonReader;
  readonly transactions: Transactions;
  readonly instanceSession: LockSession;
  protected readonly queryBuilder = KeyedSelectQueryBuilder;
  private readonly pool: PostgresPool;

  /** The unopened DataSource, with these entities and migrations. */
  constructor(declared: Omit<PostgresConnectionOptions, 'type'>, postgres: PostgresOptions) {
    const pool = new PostgresPool(postgres);
    // PostgreSQL has a built-in replacement for the UUID function of `pgcrypto`.
    const functions = { installExtensions: false, uuidExtension: 'pgcrypto' } as const;
    super({ ...declared, ...functions, type: 'postgres', driver: pool.driver });
    const driver = this.driver as PostgresDriver;
    this.pool = pool;
    this.instanceSession = new LockSession(postgres);
    this.dataVersion = new SnapshotVersion(postgres, pool.availability, () =>
      this.transactions.commitChanging([], (_, manager) => manager.query(ASSIGN_XID)),
    );
    pool.availability.onRecovered = () => {
      this.instanceSession.renew();
      this.dataVersion.renew();
    };
    const isUnlimited = postgres.statementTimeoutMs === 0;
    const open = (how: TransactionOptions) => PostgresSession.open(this.pool, how);
    this.transactions = new Transactions(this, 'READ COMMITTED', open, isUnlimited);
    this.reader = new NamedReads(this, this.pool, this.transactions);
    driver.createQueryRunner = () => new PostgresRunner(driver, this.pool, this.transactions);
    driver.createGeneratedMap = generatedValues;
    readDecimalsAsText(driver);
    compareNumericDefaults(driver);
  }

  get load(): ConnectionLoad {
    return this.pool.load;
  }

  get writeAvailability(): PostgresAvailability {
    return this.pool.availability;
  }

  override async initialize(): Promise<this> {
    try {
      await super.initialize();
      await this.checkServer();
    } catch (error) {
      if (this.isInitialized) await this.destroy();
      throw new Error(openingFailure(error), { cause: error });
    }
    return this;
  }

  override async destroy(): Promise<void> {
    this.pool.end();
    this.dataVersion.close();
    await this.instanceSession.close();
    await super.destroy();
  }

  /**
   * Runs an insert outside of any transaction, and returns its rows. Returns none, and has changed nothing, if the table has a rule that
   * PostgreSQL does not apply to such a statement.
   */
  async autocommit<Row>(sql: string, parameters: readonly unknown[]): Promise<readonly Row[]> {
    try {
      return await this.transactions.outside(() => this.query<Row[]>(sql, [...parameters]));
    } catch (error) {
      if (codeOf(error) === FEATURE_NOT_SUPPORTED) return [];
      throw error;
    }
  }

  async whileMigrating<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.transactions.run({}, async (inside, manager) => {
        await manager.query(
          'SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0',
        );
        await inside(() => this.claimMigrations());
        return work();
      });
    } catch (error) {
      throw isDenied(error) ? new Error(openingFailure(error), { cause: error }) : error;
    }
  }

  override createMigrationRunner(isAlone: boolean): QueryRunner {
    const isInside = this.transactions.isInside();
    if (!isAlone && !isInside) return this.createQueryRunner();
    const driver = this.driver as PostgresDriver;
    const runner = new MigrationRunner(driver, this.pool, this.transactions, isInside);
    // Its constructor sets the runner's manager.
    this.createEntityManager(runner);
    return runner;
  }

  /** Polls, because a statement that waits for the lock has a snapshot, and CREATE INDEX CONCURRENTLY waits for such snapshots to end. */
  private async claimMigrations(): Promise<void> {
    for (let waitedMs = 0; !(await this.transactions.tryLock('migrations')); waitedMs += CLAIM_RETRY_MS) {
      if (waitedMs >= MIGRATION_WAIT_MS)
        throw new Error(
          `Another process has been migrating the database for ${MIGRATION_WAIT_MS / 60_000} minutes. Start again when it has finished.`,
        );
      await pause(CLAIM_RETRY_MS);
    }
  }

  protected override async buildMetadatas(): Promise<void> {
    await super.buildMetadatas();
    for (const { columns } of this.entityMetadatas) for (const column of columns) adaptForPostgres(column);
  }

  /** Other encodings cannot store all text that clients may send. */
  private async checkServer(): Promise<void> {
    const [row] = await this.query<{ encoding: string; version: string; allowed: number }[]>(
      `SELECT current_setting('server_encoding') AS encoding, current_setting('server_version_num') AS version, ${MAX_CONNECTIONS} AS allowed`,
    );
    if (row?.encoding !== 'UTF8')
      throw new Error(
        `the database has the encoding ${row?.encoding}; create a database with ENCODING 'UTF8'`,
      );
    if (Number(row.version) < MIN_VERSION)
      throw new Error(`PostgreSQL ${MIN_VERSION / 10_000} or newer is required`);
    const { pool } = this.pool.options;
    if (row.allowed < pool + EXTRA_CONNECTIONS)
      throw new Error(
        `PostgreSQL allows ${row.allowed} connections, and DATABASE_POOL=${pool} needs ${pool + EXTRA_CONNECTIONS}. ` +
          'Lower DATABASE_POOL (at least 2), or raise max_connections or the CONNECTION LIMIT of the user or the database.',
      );
    await checkOwnSessions(this.pool.connections);
  }
}

/** Assigns an id to the transaction, as a write does, without writing anything. */
const ASSIGN_XID = 'SELECT pg_current_xact_id()';

/** SQLSTATE for a statement that PostgreSQL cannot run, such as one in WITH for a table with a rule. */
const FEATURE_NOT_SUPPORTED = '0A000';

/** How long a process waits for another's migrations, in milliseconds. */
const MIGRATION_WAIT_MS = 600_000;
/** Polling interval for their end, in milliseconds. */
const CLAIM_RETRY_MS = 250;

/** Connections of a process in addition to its pool: for its locks, for snapshots, and to check an unavailable server. */
const EXTRA_CONNECTIONS = 3;

/** The connection limits of the server, the user and the database; -1 means no limit. */
const MAX_CONNECTIONS = `(SELECT CASE WHEN rolsuper THEN current_setting('max_connections')::int ELSE
  least(current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
    nullif(rolconnlimit, -1), nullif(datconnlimit, -1)) END
  FROM pg_roles, pg_database WHERE rolname = current_user AND datname = current_database())`;

/** The oldest supported version, in PostgreSQL's numbering. */
const MIN_VERSION = 130_000;

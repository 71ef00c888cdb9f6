import {
  DataSource,
  type EntityManager,
  type Migration,
  type ObjectLiteral,
  type QueryRunner,
  type SelectQueryBuilder,
} from 'typeorm';
import type { ApiError } from '../core/errors/api-error.js';
import type { CachedKind, DataVersion } from './data-version.js';
import type { Dialect } from './dialect.js';
import { InsertBatches } from './insert-batches.js';
import { widenInt64Relations } from './int64-relations.js';
import { runInGroups, revertLast } from './migration-groups.js';
import type { LockSession } from './postgres/lock-session.js';
import { JoiningEntityManager } from './transactions/joining-entity-manager.js';
import type { Transactions } from './transactions/transactions.js';

/** Whether the database is currently writable. */
export abstract class WriteAvailability {
  /** Why the database cannot be written to, for clients; undefined while it can. */
  abstract get reason(): string | undefined;
}

/** The connections of one process to its database; on SQLite, the one that writes. */
export interface ConnectionLoad {
  readonly inUse: number;
  readonly idle: number;
  /** Statements and transactions that wait for a connection. */
  readonly waiting: number;
  readonly max: number;
}

/** A parameter of a read. */
export type Parameter = string | number | null;
/** A row by column name. */
export type Row = Readonly<Record<string, unknown>>;

/** Reads committed data with prepared statements. Within a transaction, it also sees the writes of the transaction. */
export abstract class JsonReader {
  /** Why nothing can be read, if known without a query. */
  get error(): ApiError | undefined {
    return undefined;
  }

  /** Throws if the database does not respond or is known to be unavailable. */
  async ping(): Promise<void> {
    await this.first('SELECT 1', []);
  }

  /**
   * The row of a query that returns at most one, by column name; undefined if there is none. `?1` is the first parameter. int64 columns must
   * be selected as text or within JSON, because a driver may round them.
   */
  abstract first(sql: string, parameters: readonly Parameter[]): Promise<Row | undefined>;

  /**
   * As `first`, for a query of one row of a table. Within a transaction, the row is locked against changes until the transaction ends.
   * SQLite, with its single writer, needs no lock.
   */
  row(sql: string, parameters: readonly Parameter[]): Promise<Row | undefined> {
    return this.first(sql, parameters);
  }
}

/** TypeORM's options for running migrations. */
interface MigrationRun {
  readonly transaction?: 'all' | 'none' | 'each';
  readonly fake?: boolean;
}

/**
 * What the service needs from a database beyond TypeORM's DataSource. Its repositories and managers join the running transaction, and
 * single rows that they insert outside of one may be committed together (InsertBatches).
 */
export abstract class Database extends DataSource {
  /** SQL that differs between the databases. */
  abstract readonly dialect: Dialect;
  abstract readonly reader: JsonReader;
  /** Runs work while no other process migrates the same database. */
  abstract whileMigrating<T>(work: () => Promise<T>): Promise<T>;
  /** The session outside of the pool that holds the locks of an instance; undefined on SQLite, which locks files. */
  abstract readonly instanceSession: LockSession | undefined;
  abstract readonly transactions: Transactions;
  /** Detects commits of this process and others. */
  abstract readonly dataVersion: DataVersion;
  /** Whether the database is currently writable. */
  abstract readonly writeAvailability: WriteAvailability;
  abstract readonly load: ConnectionLoad;
  /** Corrects TypeORM's queries for the database. */
  protected abstract readonly queryBuilder: new (
    query: SelectQueryBuilder<ObjectLiteral>,
  ) => SelectQueryBuilder<ObjectLiteral>;
  /**
   * Runs a single statement outside of any transaction, and returns its rows. Its commit invalidates only these cached kinds, where the
   * database distinguishes them. If it returns no rows, it has not changed anything.
   */
  abstract autocommit<Row>(
    sql: string,
    parameters: readonly unknown[],
    invalidates: readonly CachedKind[],
  ): Promise<readonly Row[]>;
  /** Commits the rows of concurrent inserts together. */
  readonly inserts = new InsertBatches(this);

  /** Builds the metadata of its entities without opening the database. Throws TypeORM's error for an invalid entity. */
  readEntities(): Promise<void> {
    return this.buildMetadatas();
  }

  /** A query runner for migrations; `_isAlone` for a migration that runs outside of a transaction. */
  createMigrationRunner(_isAlone: boolean): QueryRunner {
    return this.createQueryRunner();
  }

  override runMigrations({ transaction = 'all', fake = false }: MigrationRun = {}): Promise<Migration[]> {
    return transaction === 'all' ? runInGroups(this, fake) : super.runMigrations({ transaction, fake });
  }

  override undoLastMigration({ transaction = 'all', fake = false }: MigrationRun = {}): Promise<void> {
    return transaction === 'all' ? revertLast(this, fake) : super.undoLastMigration({ transaction, fake });
  }

  protected override async buildMetadatas(): Promise<void> {
    await super.buildMetadatas();
    widenInt64Relations(this.entityMetadatas);
  }

  override createEntityManager(queryRunner?: QueryRunner): EntityManager {
    return new JoiningEntityManager(this, queryRunner, () => this);
  }

  override createQueryBuilder(...args: unknown[]): never {
    const query = (super.createQueryBuilder as (...args: unknown[]) => SelectQueryBuilder<ObjectLiteral>)(
      ...args,
    );
    return new this.queryBuilder(query) as never;
  }
}

/** Checks the declarations of modules before the database is opened, so that a refused startup changes nothing. */
export abstract class DeclarationChecks {
  /** Throws DeclarationError for the first invalid declaration. `declared` is the database to be opened. */
  abstract check(declared: Database): Promise<void>;
}

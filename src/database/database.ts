import {
  DataSource,
  type EntityManager,
  type Migration,
  type ObjectLiteral,
  type QueryRunner,
  type SelectQueryBuilder,
} from 'typeorm';
import type { ApiError } from '../core/errors/api-error.js';
import type { DataVersion } from './data-version.js';
import type { Dialect } from './dialect.js';
import { InsertBatches } from './insert-batches.js';
import { suitRelations } from './int64-relations.js';
import { runInGroups, undoLast } from './migration-groups.js';
import type { SideSession } from './postgres/side-session.js';
import { JoiningEntityManager } from './transactions/joining-entity-manager.js';
import type { Transactions } from './transactions/transactions.js';

/** Whether the database can be written at the moment. */
export abstract class WriteTrouble {
  /** Why the database cannot be written at the moment, in words for a client; undefined while it can. */
  abstract get reason(): string | undefined;
}

/** The connections of one process to its database: on SQLite the one that writes. */
export interface ConnectionLoad {
  /** Connections in use. */
  readonly inUse: number;
  /** Idle connections. */
  readonly idle: number;
  /** Statements and transactions that wait for a connection. */
  readonly waiting: number;
  /** Maximum number of connections. */
  readonly most: number;
}

/** Reads what is committed, by statements that are prepared once; within a transaction, what that has written too. */
export abstract class JsonReader {
  /** Why nothing can be read, if that is known without a query; undefined otherwise. */
  get fault(): ApiError | undefined {
    return undefined;
  }

  /** Resolves if the database responds; throws if it is known not to, or does not. */
  async ping(): Promise<void> {
    await this.first('SELECT 1', []);
  }

  /**
   * The first row of a query, by the names of its columns; undefined without one. `?1` represents the first
   * parameter. int64 columns must be selected as text or within JSON: a driver may round them.
   */
  abstract first(
    sql: string,
    parameters: readonly (string | number | null)[],
  ): Promise<Readonly<Record<string, unknown>> | undefined>;

  /**
   * As `first`, for a query of one row of a table. In a transaction that row stays as it was read until the transaction ends: what is
   * decided from it is still true when it is written. SQLite, which has one writer, needs nothing for that.
   */
  row(
    sql: string,
    parameters: readonly (string | number | null)[],
  ): Promise<Readonly<Record<string, unknown>> | undefined> {
    return this.first(sql, parameters);
  }
}

/** How TypeORM runs or undoes migrations. */
interface MigrationRun {
  readonly transaction?: 'all' | 'none' | 'each';
  readonly fake?: boolean;
}

/**
 * What the service needs of a database beyond TypeORM's DataSource. Its repositories and managers take part in the running
 * transaction by themselves, and single rows that they insert outside of one may be committed together (InsertBatches).
 */
export abstract class Database extends DataSource {
  /** SQL that differs between the databases. */
  abstract readonly dialect: Dialect;
  /** Reads rows as JSON text. */
  abstract readonly reader: JsonReader;
  /** Runs work while no other process that migrates the same database does. */
  abstract whileMigrating<T>(work: () => Promise<T>): Promise<T>;
  /** The session beside the pool for the locks of an instance; undefined where processes find each other by files. */
  abstract readonly instanceSession: SideSession | undefined;
  /** The transactions that repositories take part in. */
  abstract readonly transactions: Transactions;
  /** Whether anything was committed, by this process or another. */
  abstract readonly dataVersion: DataVersion;
  /** Whether it can be written at the moment. */
  abstract readonly writeTrouble: WriteTrouble;
  /** How its connections are used now. */
  abstract readonly load: ConnectionLoad;
  /** Corrects TypeORM's queries for the database. */
  protected abstract readonly queryBuilder: new (
    query: SelectQueryBuilder<ObjectLiteral>,
  ) => SelectQueryBuilder<ObjectLiteral>;
  /** Commits rows together that concurrent requests insert. */
  readonly inserts = new InsertBatches(this);

  /** Reads what its entities declare, without opening it. Throws TypeORM's error for one that cannot be read. */
  readEntities(): Promise<void> {
    return this.buildMetadatas();
  }

  /** A query runner for migrations: for one that runs alone, outside of a transaction, or for those that run in one. */
  createMigrationRunner(_isAlone: boolean): QueryRunner {
    return this.createQueryRunner();
  }

  override runMigrations({ transaction = 'all', fake = false }: MigrationRun = {}): Promise<Migration[]> {
    return transaction === 'all' ? runInGroups(this, fake) : super.runMigrations({ transaction, fake });
  }

  override undoLastMigration({ transaction = 'all', fake = false }: MigrationRun = {}): Promise<void> {
    return transaction === 'all' ? undoLast(this, fake) : super.undoLastMigration({ transaction, fake });
  }

  protected override async buildMetadatas(): Promise<void> {
    await super.buildMetadatas();
    suitRelations(this.entityMetadatas);
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

/** Checks what modules declare before the database is opened, so that a start which is refused has changed nothing. */
export abstract class DeclarationChecks {
  /** Throws DeclarationError for the first declaration that cannot work. `declared` is the database that is to be opened. */
  abstract check(declared: Database): Promise<void>;
}

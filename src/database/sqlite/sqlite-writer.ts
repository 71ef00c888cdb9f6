import type sqlite3 from 'sqlite3';
import type { SqliteDriver } from 'typeorm/driver/sqlite/SqliteDriver.js';
import { type CachedKind, OwnWritesVersion } from '../data-version.js';
import { manualTransactionError, startsWith, onlyReads } from '../statements.js';
import { type Release, Semaphore } from '../transactions/semaphore.js';
import type { TransactionOptions, TransactionSession } from '../transactions/transaction-session.js';
import { Connection, type Prepared } from './connection.js';
import { PlainReads, RunnerOn } from './plain-reads.js';
import type { DatabaseFiles } from './availability/database-files.js';
import type { SqliteAvailability } from './availability/sqlite-availability.js';
import { driverCodeOf } from './availability/sqlite-errors.js';
import { unavailable } from '../unavailable.js';
import { WalDataVersion } from './wal-data-version.js';
import { LockWait, watchWriteLock } from './write-lock.js';

/** Takes the write lock immediately, because a transaction that reads first cannot wait for it later (SQLITE_BUSY). */
const BEGIN = 'BEGIN IMMEDIATE TRANSACTION';

interface Effects {
  readonly isRead?: boolean;
  /** It takes the write lock, and may have to wait for another process. */
  readonly acquiresLock?: boolean;
  /** It commits, which must not be acknowledged if the files were lost. */
  readonly commits?: boolean;
  /** It must be possible after any failure, because missing files may come back. */
  readonly isRollback?: boolean;
}

/** The effects of a statement outside of a transaction. */
function effectsOf(sql: string): Effects {
  if (onlyReads(sql)) return { isRead: true };
  return { commits: true, acquiresLock: !/^\s*PRAGMA\b/i.test(sql) };
}

/** Outside of a transaction, a savepoint starts one. */
const BEGINS = startsWith('BEGIN|SAVEPOINT');

/** The statements of insert batches and of TypeORM's inserts. */
const STAYS_PREPARED = /^(?:BEGIN IMMEDIATE TRANSACTION|COMMIT|WITH batch AS|INSERT INTO )/;
/** Caching them yields 5 % more inserts and cuts their 99th percentile by a third. */
const PREPARED: Prepared = { max: 64, accepts: (sql) => sql.length <= 4_096 && STAYS_PREPARED.test(sql) };

/** A transaction, which accepts only a rollback once `failure` is set. */
interface TransactionState {
  failure?: unknown;
}

/** The connection during a transaction. */
export interface WritingSession extends TransactionSession {
  /** Runs a statement. Throws service_unavailable if the database cannot run it. */
  run<T>(sql: string, statement: () => Promise<T>): Promise<T>;
}

/** The only connection that writes. Statements run one at a time, whichever query runner sends them. */
export class SqliteWriter {
  /** Held by a transaction, or by a statement outside of any. */
  private readonly permits = new Semaphore();
  /** Runs reads outside of transactions. */
  readonly reads: PlainReads;
  private running: Promise<void> | undefined;
  private readonly lock = new LockWait();
  private readonly runner: RunnerOn;
  private opened: { readonly database: sqlite3.Database; readonly connection: Connection } | undefined;

  constructor(
    private readonly driver: SqliteDriver,
    private readonly dataVersion: OwnWritesVersion | WalDataVersion,
    private readonly files: DatabaseFiles,
    private readonly availability: SqliteAvailability,
  ) {
    this.reads = new PlainReads(driver, files, availability);
    this.runner = new RunnerOn(driver, () => this.connection.driver);
  }

  /** The connection opened by TypeORM. */
  get connection(): Connection {
    const database = this.driver.databaseConnection as sqlite3.Database;
    if (this.opened?.database !== database)
      this.opened = { database, connection: new Connection(database, PREPARED) };
    return this.opened.connection;
  }

  get load(): Semaphore['load'] {
    return this.permits.load;
  }

  /** Waits for the permit, then runs a statement outside of a transaction. */
  async run<T>(sql: string, statement: () => Promise<T>): Promise<T> {
    if (BEGINS.test(sql)) throw manualTransactionError();
    const release = await this.acquirePermit();
    try {
      return await this.execute(undefined, effectsOf(sql), statement);
    } finally {
      release();
    }
  }

  /** Runs a statement like `run`, whose commit invalidates only these cached kinds; if it returns no rows, it has changed nothing. */
  async autocommit<Row>(
    sql: string,
    parameters: readonly unknown[],
    invalidates: readonly CachedKind[],
  ): Promise<readonly Row[]> {
    const { dataVersion } = this;
    const statement = () => this.runner.query(sql, [...parameters]) as Promise<readonly Row[]>;
    const release = await this.acquirePermit();
    try {
      return await this.execute(undefined, effectsOf(sql), () =>
        dataVersion instanceof WalDataVersion
          ? dataVersion.autocommitting(invalidates, statement)
          : statement(),
      );
    } finally {
      release();
    }
  }

  async open({ name, invalidates }: TransactionOptions): Promise<WritingSession> {
    const release = await this.acquirePermit();
    const transaction: TransactionState = {};
    const control = (sql: string, effects: Effects = {}) =>
      this.execute<unknown>(transaction, effects, () => this.runner.query(sql));
    try {
      await control(BEGIN, { acquiresLock: true });
    } catch (error) {
      release();
      throw error;
    }
    const savepoint = (sql: string, effects?: Effects) =>
      control(sql, effects).catch((error: unknown) => {
        // Changes that a failed savepoint command should have rolled back must not be committed.
        transaction.failure ??= error;
        throw error;
      });
    const endWatch = watchWriteLock(name);
    const { dataVersion } = this;
    return {
      run: (sql, statement) => this.execute(transaction, { isRead: onlyReads(sql) }, statement),
      control: savepoint,
      rollbackTo: (to) => savepoint(`ROLLBACK TO SAVEPOINT ${to}`, { isRollback: true }),
      commit: async () => {
        const commit = () => control('COMMIT', { commits: true });
        if (!invalidates || !(dataVersion instanceof WalDataVersion)) return commit();
        // Without a changed row, SQLite would commit nothing, and the next commit of another process would be mistaken for this one.
        if (invalidates.length === 0) await control('PRAGMA user_version = 1');
        return dataVersion.committing(invalidates, commit);
      },
      rollback: () => control('ROLLBACK', { isRollback: true }),
      release: () => {
        endWatch();
        release();
      },
    };
  }

  private async acquirePermit(): Promise<Release> {
    try {
      return await this.permits.acquire();
    } catch (error) {
      // The statement that holds the permit waits for another process, which is already logged.
      throw this.availability.lock.reason ? unavailable('the database is busy', error, true) : error;
    }
  }

  /**
   * Runs a statement after the one that is running. Throws without running it if its transaction has failed; throws service_unavailable if
   * the database cannot run it.
   */
  private async execute<T>(
    transaction: TransactionState | undefined,
    { isRead, acquiresLock, commits, isRollback }: Effects,
    statement: () => Promise<T>,
  ): Promise<T> {
    // A rollback does not wait for a permit of its transaction, so another statement of that transaction may still be running.
    while (this.running) await this.running;
    if (!isRollback) {
      if (transaction?.failure !== undefined) throw transaction.failure;
      if (commits) this.files.confirm();
      else this.files.refuseIfDamaged();
    }
    let end!: () => void;
    this.running = new Promise((resolve) => (end = resolve));
    const since = performance.now();
    try {
      const result = await (acquiresLock ? this.lock.run(statement) : statement());
      if (acquiresLock) {
        this.lock.end();
        this.availability.lock.end();
      }
      // A commit into a file that was removed or replaced must not be acknowledged.
      if (commits) this.files.confirm();
      return result;
    } catch (error) {
      const refusal = this.availability.writeError(error, driverCodeOf(error), since);
      if (transaction && (refusal !== error || (await this.hasRolledBack(error))))
        transaction.failure ??= refusal;
      throw refusal;
    } finally {
      if (!isRead && this.dataVersion instanceof OwnWritesVersion) this.dataVersion.note();
      this.running = undefined;
      end();
    }
  }

  /**
   * Whether a constraint has rolled the transaction back (`ON CONFLICT ROLLBACK`, `RAISE(ROLLBACK)`), after which later statements
   * would be committed on their own.
   */
  private async hasRolledBack(error: unknown): Promise<boolean> {
    if (driverCodeOf(error) !== 'SQLITE_CONSTRAINT') return false;
    try {
      await this.runner.query('BEGIN');
    } catch {
      return false;
    }
    await this.runner.query('ROLLBACK');
    return true;
  }
}

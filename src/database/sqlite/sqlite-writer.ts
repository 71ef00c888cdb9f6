import type sqlite3 from 'sqlite3';
import type { SqliteDriver } from 'typeorm/driver/sqlite/SqliteDriver.js';
import { OwnWritesVersion } from '../data-version.js';
import { manualTransactionError, firstWords, onlyReads } from '../statements.js';
import { type Release, Semaphore } from '../transactions/semaphore.js';
import type { TransactionOptions, TransactionSession } from '../transactions/transaction-session.js';
import { Connection, type Prepared } from './connection.js';
import { PlainReads, RunnerOn } from './plain-reads.js';
import type { DatabaseFiles } from './troubles/database-files.js';
import type { DatabaseTroubles } from './troubles/database-troubles.js';
import { driverCodeOf } from './troubles/sqlite-errors.js';
import { unavailable } from '../unavailable.js';
import { WalDataVersion } from './wal-data-version.js';
import { LockWait, watchWriteLock } from './write-lock.js';

/** Takes the write lock at once: a transaction that reads first cannot wait for it later (SQLITE_BUSY). */
const BEGIN = 'BEGIN IMMEDIATE TRANSACTION';

/** What a statement does. */
interface Effects {
  /** It certainly changes nothing. */
  readonly isRead?: boolean;
  /** It takes the write lock, for which it may have to wait for another process. */
  readonly takesLock?: boolean;
  /** It commits: what is lost with the files must not be acknowledged. */
  readonly commits?: boolean;
  /** It must be possible whatever has failed: the files that are unavailable may come back. */
  readonly isRollback?: boolean;
}

/** What a statement does outside of a transaction. */
function effectsOf(sql: string): Effects {
  if (onlyReads(sql)) return { isRead: true };
  return { commits: true, takesLock: !/^\s*PRAGMA\b/i.test(sql) };
}

/** Outside of a transaction, a savepoint begins one. */
const BEGINS = firstWords('BEGIN|SAVEPOINT');

/** What each batch of inserts runs, and TypeORM's own inserts. */
const STAYS_PREPARED = /^(?:BEGIN IMMEDIATE TRANSACTION|COMMIT|WITH batch AS|INSERT INTO )/;
/** Kept ones make 5 % more inserts, and take a third off their 99th percentile. */
const PREPARED: Prepared = { max: 64, accepts: (sql) => sql.length <= 4_096 && STAYS_PREPARED.test(sql) };

/** A transaction, which accepts nothing but its rollback once `failure` is set. */
interface TransactionState {
  failure?: unknown;
}

/** The connection while a transaction has it. */
export interface WritingSession extends TransactionSession {
  /** Runs a statement. Throws service_unavailable if the database cannot run it. */
  run<T>(sql: string, statement: () => Promise<T>): Promise<T>;
}

/** The one connection that writes. Statements run on it one at a time, whichever query runner sends them. */
export class SqliteWriter {
  /** Transactions, and statements that are in none. */
  private readonly turns = new Semaphore();
  /** Where reads go that are in no transaction. */
  readonly reads: PlainReads;
  private running: Promise<void> | undefined;
  private readonly lock = new LockWait();
  private readonly runner: RunnerOn;
  private opened: { readonly database: sqlite3.Database; readonly connection: Connection } | undefined;

  constructor(
    private readonly driver: SqliteDriver,
    private readonly dataVersion: OwnWritesVersion | WalDataVersion,
    private readonly files: DatabaseFiles,
    private readonly troubles: DatabaseTroubles,
  ) {
    this.reads = new PlainReads(driver, files, troubles);
    this.runner = new RunnerOn(driver, () => this.connection.driver);
  }

  /** The connection that TypeORM has opened. */
  get connection(): Connection {
    const database = this.driver.databaseConnection as sqlite3.Database;
    if (this.opened?.database !== database)
      this.opened = { database, connection: new Connection(database, PREPARED) };
    return this.opened.connection;
  }

  /** How many have a turn, and how many wait for one. */
  get load(): Semaphore['load'] {
    return this.turns.load;
  }

  /** Runs a statement outside of a transaction, in its turn. */
  async run<T>(sql: string, statement: () => Promise<T>): Promise<T> {
    if (BEGINS.test(sql)) throw manualTransactionError();
    const release = await this.acquireTurn();
    try {
      return await this.execute(undefined, effectsOf(sql), statement);
    } finally {
      release();
    }
  }

  /** Begins a transaction in its turn. */
  async open({ name, invalidates }: TransactionOptions): Promise<WritingSession> {
    const release = await this.acquireTurn();
    const transaction: TransactionState = {};
    const control = (sql: string, effects: Effects = {}) =>
      this.execute<unknown>(transaction, effects, () => this.runner.query(sql));
    try {
      await control(BEGIN, { takesLock: true });
    } catch (error) {
      release();
      throw error;
    }
    const savepoint = (sql: string, effects?: Effects) =>
      control(sql, effects).catch((error: unknown) => {
        // What a savepoint should have undone must not be committed.
        transaction.failure ??= error;
        throw error;
      });
    const endWatch = watchWriteLock(name);
    const { dataVersion } = this;
    return {
      run: (sql, statement) => this.execute(transaction, { isRead: onlyReads(sql) }, statement),
      control: savepoint,
      undo: (to) => savepoint(`ROLLBACK TO SAVEPOINT ${to}`, { isRollback: true }),
      commit: async () => {
        const commit = () => control('COMMIT', { commits: true });
        if (!invalidates || !(dataVersion instanceof WalDataVersion)) return commit();
        // Where no row has changed, SQLite would commit nothing, and the next commit of another process would be taken for this one.
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

  private async acquireTurn(): Promise<Release> {
    try {
      return await this.turns.acquire();
    } catch (error) {
      // The turn was taken by a statement that waited for another process, which is in the log already.
      throw this.troubles.lock.reason ? unavailable('the database is busy', error, true) : error;
    }
  }

  /**
   * Runs a statement whose turn it is. Throws without running it if its transaction has failed, and throws service_unavailable if the
   * database cannot run it.
   */
  private async execute<T>(
    transaction: TransactionState | undefined,
    { isRead, takesLock, commits, isRollback: undoes }: Effects,
    statement: () => Promise<T>,
  ): Promise<T> {
    // A rollback does not wait for its turn, so a statement of the same transaction may still be running.
    while (this.running) await this.running;
    if (!undoes) {
      if (transaction?.failure !== undefined) throw transaction.failure;
      if (commits) this.files.confirm();
      else this.files.refuseIfDamaged();
    }
    let end!: () => void;
    this.running = new Promise((resolve) => (end = resolve));
    const since = performance.now();
    try {
      const result = await (takesLock ? this.lock.run(statement) : statement());
      if (takesLock) {
        this.lock.end();
        this.troubles.lock.end();
      }
      // A commit into a file that was removed or replaced must not be acknowledged.
      if (commits) this.files.confirm();
      return result;
    } catch (error) {
      const refusal = this.troubles.writeError(error, driverCodeOf(error), since);
      if (transaction && (refusal !== error || (await this.hasRolledBack(error))))
        transaction.failure ??= refusal;
      throw refusal;
    } finally {
      if (!isRead && this.dataVersion instanceof OwnWritesVersion) this.dataVersion.note();
      this.running = undefined;
      end();
    }
  }

  /** Whether a constraint has ended the transaction (`ON CONFLICT ROLLBACK`, `RAISE(ROLLBACK)`): what follows would be committed alone. */
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

import { Logger } from '@nestjs/common';
import type sqlite3 from 'sqlite3';
import { TypeORMError } from 'typeorm';
import type { SqliteDriver } from 'typeorm/driver/sqlite/SqliteDriver.js';
import { OwnWritesVersion } from '../data-version.js';
import type { StatementScope } from '../scopes/statement-scope.js';
import { ConnectionScope, type Transaction } from '../scopes/transaction.js';
import type { Release } from '../scopes/semaphore.js';
import { Connection, type Prepared } from './connection.js';
import { PlainReads, RunnerOn } from './plain-reads.js';
import type { DatabaseFiles } from './troubles/database-files.js';
import type { DatabaseTroubles } from './troubles/database-troubles.js';
import { driverCodeOf } from './troubles/sqlite-errors.js';
import { unavailable } from '../unavailable.js';
import { WalDataVersion } from './wal-data-version.js';

/** SQLite's only isolation level without a shared cache. */
const ISOLATIONS = new Set<string | undefined>([undefined, 'SERIALIZABLE', 'READ UNCOMMITTED']);
/** Takes the write lock at once: a transaction that reads first cannot wait for it later (SQLITE_BUSY). */
const BEGIN = 'BEGIN IMMEDIATE TRANSACTION';
/** Statements that certainly change nothing. */
const READS = /^\s*SELECT\b/;
const ROLLBACK = /^\s*ROLLBACK\b/;
/** Statements that never wait for another process, outside of a transaction or at the end of one. */
const NEEDS_NO_LOCK = /^\s*(?:SELECT|COMMIT|ROLLBACK|PRAGMA)\b/i;
/** Statements that succeed only with the write lock. */
const NEEDS_LOCK = /^\s*(?:BEGIN IMMEDIATE|INSERT|UPDATE|DELETE)\b/;
/** Statements that commit nothing, outside of a transaction. */
const LEAVES_FILES = /^\s*(?:SELECT|BEGIN|ROLLBACK)\b/;

/** What each batch of inserts runs, and TypeORM's own inserts. */
const KEPT = /^(?:BEGIN IMMEDIATE TRANSACTION|COMMIT|WITH batch AS|INSERT INTO )/;
/** Kept ones make 5 % more inserts, and take a third off their 99th percentile. */
const PREPARED: Prepared = { most: 64, takes: (sql) => sql.length <= 4_096 && KEPT.test(sql) };

/** The one connection that writes. Statements run on it one at a time, whichever query runner sends them. */
export class SqliteWriter extends ConnectionScope {
  /** Where reads go that are in no transaction. */
  readonly reads: PlainReads;
  private running: Promise<void> | undefined;
  private readonly lock = new LockWait();
  private endWatch: (() => void) | undefined;
  private readonly runner: RunnerOn;
  private opened: { readonly of: sqlite3.Database; readonly connection: Connection } | undefined;

  constructor(
    private readonly driver: SqliteDriver,
    private readonly dataVersion: OwnWritesVersion | WalDataVersion,
    private readonly files: DatabaseFiles,
    private readonly troubles: DatabaseTroubles,
  ) {
    super();
    this.reads = new PlainReads(driver, files, troubles);
    this.runner = new RunnerOn(driver, () => this.connection.driver);
  }

  /** The connection that TypeORM has opened. */
  get connection(): Connection {
    const of = this.driver.databaseConnection as sqlite3.Database;
    if (this.opened?.of !== of) this.opened = { of, connection: new Connection(of, PREPARED) };
    return this.opened.connection;
  }

  override async take(): Promise<Release> {
    try {
      return await super.take();
    } catch (error) {
      // The turn was taken by a statement that waited for another process, which is in the log already.
      throw this.troubles.lock.reason ? unavailable('the database is busy', error, true) : error;
    }
  }

  /**
   * Runs a statement whose turn it is in its scope. Throws without running it if the scope has failed, and throws
   * service_unavailable if the database cannot run it.
   */
  async run<T>(scope: StatementScope, sql: string, statement: () => Promise<T>): Promise<T> {
    // A forced rollback does not wait for its turn, so a statement of the same transaction may still be running.
    while (this.running) await this.running;
    scope.check();
    this.refuseIfDamaged(scope, sql);
    let end!: () => void;
    this.running = new Promise((resolve) => (end = resolve));
    const since = performance.now();
    try {
      const result = await (this.takesLock(scope, sql) ? this.lock.run(statement) : statement());
      if (NEEDS_LOCK.test(sql)) {
        this.lock.end();
        this.troubles.lock.end();
      }
      // A commit into a file that was removed or replaced must not be acknowledged.
      if (this.commits(scope, sql)) this.files.confirm();
      return result;
    } catch (error) {
      const refusal = this.troubles.ofWriter(error, driverCodeOf(error), since);
      if (refusal !== error || (await this.hasRolledBack(scope, error))) scope.fail(refusal);
      throw refusal;
    } finally {
      if (this.dataVersion instanceof OwnWritesVersion && !READS.test(sql)) this.dataVersion.note();
      this.running = undefined;
      end();
    }
  }

  /** Whether a constraint has ended the transaction (`ON CONFLICT ROLLBACK`, `RAISE(ROLLBACK)`): what follows would be committed alone. */
  private async hasRolledBack(scope: StatementScope, error: unknown): Promise<boolean> {
    if (scope === this || driverCodeOf(error) !== 'SQLITE_CONSTRAINT') return false;
    return this.runner.query('BEGIN').then(
      () => this.runner.query('ROLLBACK').then(() => true),
      () => false,
    );
  }

  private refuseIfDamaged(scope: StatementScope, sql: string): void {
    // A rollback must be possible even while the files are unavailable, because they may come back.
    if (ROLLBACK.test(sql)) return;
    if (this.commits(scope, sql)) this.files.confirm();
    else this.files.refuseIfDamaged();
  }

  private takesLock(scope: StatementScope, sql: string): boolean {
    return scope === this && !NEEDS_NO_LOCK.test(sql);
  }

  private commits(scope: StatementScope, sql: string): boolean {
    return scope === this && !LEAVES_FILES.test(sql);
  }

  async control({ around = this, options }: Transaction, command: string): Promise<void> {
    const { isolation, invalidates, name = () => 'A transaction' } = options;
    if (!ISOLATIONS.has(isolation)) throw new TypeORMError(`SQLite has no isolation level ${isolation}.`);
    const sql = command === 'BEGIN' ? BEGIN : command;
    const run = () => this.run<unknown>(around, sql, () => this.runner.query(sql));
    const { dataVersion } = this;
    const isKnown = invalidates && command === 'COMMIT' && dataVersion instanceof WalDataVersion;
    await (isKnown ? dataVersion.committing(invalidates, run) : run());
    if (command === 'BEGIN') this.endWatch = watchWriteLock(name);
  }

  ended(): void {
    this.endWatch?.();
    this.endWatch = undefined;
  }
}

/** How long SQLite itself waits for a lock (`busy_timeout`), in milliseconds; the wait occupies a thread and cannot be cancelled. */
export const LOCK_TRY_MS = 250;
/** How long a write waits for a write lock that another process holds, in milliseconds. */
const LOCK_WAIT_MS = 5_000;

/**
 * Waits for a write lock that another process holds, until 5 s after it was first found taken. From then on each write is refused
 * after one try until the lock is free: otherwise queued writes would wait 5 s each, one after the other.
 */
class LockWait {
  private since: number | undefined;

  /** The lock is free: a statement that needs it has succeeded. */
  end(): void {
    this.since = undefined;
  }

  /** Runs a statement that may take the lock, and repeats it while the lock is taken. Throws SQLite's error when the wait is over. */
  async run<T>(statement: () => Promise<T>): Promise<T> {
    for (;;) {
      const began = performance.now();
      try {
        return await statement();
      } catch (error) {
        if (driverCodeOf(error) !== 'SQLITE_BUSY') throw error;
        this.since ??= began;
        if (performance.now() - this.since >= LOCK_WAIT_MS) throw error;
      }
    }
  }
}

/** A transaction that holds the write lock for longer is logged, in milliseconds. */
const WRITE_LOCK_BOUND_MS = 1_000;

const logger = new Logger('Database');

/**
 * Watches a transaction of this process that got the write lock: if it holds the lock for longer than a second, that is logged, and
 * again with the total time when it ends. Returns the function to call when it has ended.
 */
function watchWriteLock(name: () => string): () => void {
  const since = performance.now();
  let isLong = false;
  const timer = setTimeout(() => {
    isLong = true;
    logger.warn(
      `${name()} has held the write lock for ${WRITE_LOCK_BOUND_MS} ms, and all other writers wait. ` +
        'Await nothing but the database in a transaction.',
    );
  }, WRITE_LOCK_BOUND_MS).unref();
  return () => {
    clearTimeout(timer);
    const total = Math.round(performance.now() - since);
    // The total is compared too: while the event loop is blocked, the timer does not fire.
    if (isLong || total >= WRITE_LOCK_BOUND_MS) logger.warn(`${name()} held the write lock for ${total} ms.`);
  };
}

import type { SqliteDriver } from 'typeorm/driver/sqlite/SqliteDriver.js';
import { SqliteQueryRunner } from 'typeorm/driver/sqlite/SqliteQueryRunner.js';
import type { OwnWritesVersion } from '../data-version.js';
import type { DatabaseFiles } from './database-files.js';
import type { DatabaseTroubles } from './database-troubles.js';
import { LockWait } from './lock-wait.js';
import { PlainReads } from './plain-reads.js';
import { type GiveBack, StatementScope } from './statement-scope.js';
import { driverCodeOf, unavailable } from './unavailable.js';

/** What certainly changes nothing. */
const READS = /^\s*SELECT\b/;
const ROLLBACK = /^\s*ROLLBACK\b/;
/** What waits for no other process, outside of a transaction or at the end of one. */
const NEEDS_NO_LOCK = /^\s*(?:SELECT|COMMIT|ROLLBACK|PRAGMA)\b/i;
/** What succeeds with the write lock alone. */
const NEEDS_LOCK = /^\s*(?:BEGIN IMMEDIATE|INSERT|UPDATE|DELETE)\b/;
/** What commits nothing by itself, outside of a transaction. */
const LEAVES_FILES = /^\s*(?:SELECT|BEGIN|ROLLBACK)\b/;

/** The one connection that writes: every statement runs on it by itself, whoever sends it. */
export class SqliteConnection extends StatementScope {
  /** Where reads go that are in no transaction. */
  readonly reads: PlainReads;
  private running: Promise<void> | undefined;
  private readonly lock = new LockWait();
  private readonly runner: SqliteQueryRunner;

  constructor(
    driver: SqliteDriver,
    private readonly ownWrites: OwnWritesVersion,
    private readonly files: DatabaseFiles,
    private readonly troubles: DatabaseTroubles,
  ) {
    super();
    this.reads = new PlainReads(driver, files, troubles);
    this.runner = new SqliteQueryRunner(driver);
  }

  override async take(): Promise<GiveBack> {
    try {
      return await super.take();
    } catch (error) {
      // Whoever had the turn waited for another process, of which the log was told.
      throw this.troubles.lock.isKept ? unavailable('the database is busy', error, true) : error;
    }
  }

  /**
   * Runs a statement whose turn it is in its scope. Throws without running it when the scope cannot go on, and
   * service_unavailable when the database cannot.
   */
  async run<T>(scope: StatementScope, sql: string, statement: () => Promise<T>): Promise<T> {
    // A transaction that is rolled back by force does not wait for the turns of what is still going on in it.
    while (this.running) await this.running;
    scope.check();
    this.refuseIfDamaged(scope, sql);
    let end!: () => void;
    this.running = new Promise((resolve) => (end = resolve));
    const since = performance.now();
    try {
      const result = await (this.takesLock(scope, sql) ? this.lock.run(statement) : statement());
      if (NEEDS_LOCK.test(sql)) this.troubles.lock.end();
      // Nothing is acknowledged that stands in a file that is gone.
      if (this.commits(scope, sql)) this.files.confirm();
      return result;
    } catch (error) {
      const refusal = this.troubles.ofWriter(error, driverCodeOf(error), since);
      if (refusal !== error) scope.fail(refusal);
      throw refusal;
    } finally {
      if (!READS.test(sql)) this.ownWrites.note();
      this.running = undefined;
      end();
    }
  }

  /** What commits is looked at before, too: on a log that was cut it could copy what is not there into the database. */
  private refuseIfDamaged(scope: StatementScope, sql: string): void {
    // A transaction ends also where its files are away, and may come back.
    if (ROLLBACK.test(sql) && this.files.mayBeClosed) return;
    if (this.commits(scope, sql)) this.files.confirm();
    else this.files.refuseIfDamaged();
  }

  private takesLock(scope: StatementScope, sql: string): boolean {
    return scope === this && !NEEDS_NO_LOCK.test(sql);
  }

  private commits(scope: StatementScope, sql: string): boolean {
    return scope === this && !LEAVES_FILES.test(sql);
  }

  /** Runs what begins or ends a transaction in a scope. */
  async control(scope: StatementScope, sql: string): Promise<void> {
    await this.run(scope, sql, () => this.runner.query(sql));
  }
}

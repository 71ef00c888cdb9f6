import { SqliteQueryRunner } from 'typeorm/driver/sqlite/SqliteQueryRunner.js';
import type { SqliteDriver } from 'typeorm/driver/sqlite/SqliteDriver.js';
import type { OwnWrites } from '../committed-state.js';
import type { WriteTrouble } from '../write-trouble.js';
import type { DatabaseFiles } from './database-files.js';
import { LockWait } from './lock-wait.js';
import { PlainReads } from './plain-reads.js';
import { StatementScope } from './statement-scope.js';
import { driverCodeOf, refusalIfUnavailable } from './unavailable.js';

/** What certainly changes nothing. */
const READS = /^\s*SELECT\b/;
/** What waits for no other process, outside of a transaction or at the end of one. */
const NEEDS_NO_LOCK = /^\s*(?:SELECT|COMMIT|ROLLBACK|PRAGMA)\b/;
const ROLLBACK = /^\s*ROLLBACK\b/;
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
    private readonly ownWrites: OwnWrites,
    private readonly files: DatabaseFiles,
    private readonly trouble: WriteTrouble,
  ) {
    super();
    this.reads = new PlainReads(driver, files);
    this.runner = new SqliteQueryRunner(driver);
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
    try {
      const result = await (this.takesLock(scope, sql) ? this.lock.run(statement) : statement());
      // Nothing is acknowledged that stands in a file that is gone.
      if (this.commits(scope, sql)) this.files.confirm();
      return result;
    } catch (error) {
      const refusal = refusalIfUnavailable(error, driverCodeOf(error), this.trouble);
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

import type { SqliteDriver } from 'typeorm/driver/sqlite/SqliteDriver.js';
import { SqliteQueryRunner } from 'typeorm/driver/sqlite/SqliteQueryRunner.js';
import { onlyReads } from '../statements.js';
import { Semaphore } from '../transactions/semaphore.js';
import { Connection } from './connection.js';
import type { DatabaseFiles } from './troubles/database-files.js';
import type { DatabaseTroubles } from './troubles/database-troubles.js';
import { driverCodeOf } from './troubles/sqlite-errors.js';

/** Functions that work only on the writing connection. */
const NEEDS_WRITER = /\b(?:last_insert_rowid|changes|total_changes)\s*\(/i;

/**
 * Runs reads of repositories and the DataSource outside of transactions on a separate connection, so that they do not wait for the writer.
 * Key look-ups have another one (ReadConnection), so that long queries of a module do not delay them.
 */
export class PlainReads {
  private connection: Connection | undefined;
  private runner: SqliteQueryRunner | undefined;
  private readonly turns = new Semaphore();

  constructor(
    private readonly driver: SqliteDriver,
    private readonly files: DatabaseFiles,
    private readonly troubles: DatabaseTroubles,
  ) {}

  /** Opens an existing file; until then, every read uses the writing connection. */
  async open(file: string, busyTimeoutMs: number): Promise<void> {
    const connection = await Connection.open(file, 'read', { busyTimeoutMs });
    this.connection = connection;
    this.runner = new RunnerOn(this.driver, () => connection.driver);
  }

  /** Closes the connection. */
  async close(): Promise<void> {
    const { connection } = this;
    this.runner = undefined;
    this.connection = undefined;
    await connection?.close();
  }

  /** Whether a statement certainly reads committed data only. */
  accepts(sql: string): boolean {
    return this.runner !== undefined && onlyReads(sql) && !NEEDS_WRITER.test(sql);
  }

  /**
   * Runs an accepted statement; undefined if only the writing connection can, as for a temporary table. Throws service_unavailable if the
   * database cannot be read.
   */
  query(sql: string, parameters: unknown[], structured: boolean): Promise<{ result: unknown } | undefined> {
    return this.turns.run(async () => {
      try {
        this.files.refuseIfDamaged();
        const result: unknown = await this.runner?.query(sql, parameters, structured);
        return this.runner && { result };
      } catch (error) {
        const code = driverCodeOf(error);
        if (code === 'SQLITE_ERROR') return undefined;
        throw this.troubles.readError(error, code);
      }
    });
  }
}

/** TypeORM's query runner on another connection than the driver's; `on` returns it for each statement. */
export class RunnerOn extends SqliteQueryRunner {
  constructor(
    driver: SqliteDriver,
    private readonly on: () => unknown,
  ) {
    super(driver);
  }

  override connect(): Promise<unknown> {
    return Promise.resolve(this.on());
  }
}

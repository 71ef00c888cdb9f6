import type { SqliteDriver } from 'typeorm/driver/sqlite/SqliteDriver.js';
import { SqliteQueryRunner } from 'typeorm/driver/sqlite/SqliteQueryRunner.js';
import { onlyReads } from '../statements.js';
import { Semaphore } from '../transactions/semaphore.js';
import { Connection } from './connection.js';
import type { DatabaseFiles } from './availability/database-files.js';
import type { SqliteAvailability } from './availability/sqlite-availability.js';
import { driverCodeOf } from './availability/sqlite-errors.js';

/** Functions that work only on the writing connection. */
const NEEDS_WRITER = /\b(?:last_insert_rowid|changes|total_changes)\s*\(/i;

/**
 * Runs reads of repositories and the DataSource outside of transactions on a separate connection, so that they do not wait for the writer.
 * Key lookups use another one (ReadConnection), so that a module's long queries do not delay them.
 */
export class PlainReads {
  private connection: Connection | undefined;
  private runner: SqliteQueryRunner | undefined;
  private readonly permits = new Semaphore();

  constructor(
    private readonly driver: SqliteDriver,
    private readonly files: DatabaseFiles,
    private readonly availability: SqliteAvailability,
  ) {}

  /** Opens an existing file; until then, every read uses the writing connection. */
  async open(file: string, busyTimeoutMs: number): Promise<void> {
    const connection = await Connection.open(file, 'read', { busyTimeoutMs });
    this.connection = connection;
    this.runner = new RunnerOn(this.driver, () => connection.driver);
  }

  async close(): Promise<void> {
    const { connection } = this;
    this.runner = undefined;
    this.connection = undefined;
    await connection?.close();
  }

  /** Whether a statement is certain to read only committed data. */
  accepts(sql: string): boolean {
    return this.runner !== undefined && onlyReads(sql) && !NEEDS_WRITER.test(sql);
  }

  /**
   * Runs an accepted statement; undefined if only the writing connection can, as for a temporary table. Throws service_unavailable if the
   * database cannot be read.
   */
  query(sql: string, parameters: unknown[], structured: boolean): Promise<{ result: unknown } | undefined> {
    return this.permits.run(async () => {
      try {
        this.files.refuseIfDamaged();
        const result: unknown = await this.runner?.query(sql, parameters, structured);
        return this.runner && { result };
      } catch (error) {
        const code = driverCodeOf(error);
        if (code === 'SQLITE_ERROR') return undefined;
        throw this.availability.readError(error, code);
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

import sqlite3 from 'sqlite3';
import type { DataSource } from 'typeorm';
import type { ApiError } from '../../core/errors/api-error.js';
import { JsonReader } from '../database.js';
import { inStatementSpan } from '../statement-span.js';
import type { Transactions } from '../transactions.js';
import { JoinedReads, type Parameters, type Row } from './joined-reads.js';
import type { DatabaseFiles } from './troubles/database-files.js';
import type { DatabaseTroubles } from './troubles/database-troubles.js';

/** Statements that stay prepared at most: clients choose how lists are filtered and sorted, each in a statement of its own. */
const MOST_STATEMENTS = 500;

type DriverError = Error & { readonly code?: string };
/** A DataSource on a file, with what is known of it. */
interface SqliteFile extends DataSource {
  readonly transactions: Transactions;
  readonly files: DatabaseFiles;
  readonly troubles: DatabaseTroubles;
}

/**
 * A second connection to an SQLite file, for reading alone: with a write-ahead log it waits for no writer, and sees at once what
 * is committed. A caller in a transaction reads in that instead, and sees what it has written.
 */
export class ReadConnection extends JsonReader {
  private readonly statements = new Map<string, Promise<sqlite3.Statement>>();
  private readonly inTransaction: OwnConnection;
  private readonly joined = new JoinedReads((sql, parameters) => this.all(sql, parameters));

  private constructor(
    private readonly connection: sqlite3.Database,
    private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
    private readonly files: DatabaseFiles,
    private readonly troubles: DatabaseTroubles,
  ) {
    super();
    this.inTransaction = new OwnConnection(dataSource);
  }

  /** Opens the file of a DataSource, which must be there. */
  static async open(dataSource: SqliteFile, file: string, busyTimeoutMs: number): Promise<ReadConnection> {
    const connection = await openForReading(file, busyTimeoutMs);
    const { transactions, files, troubles } = dataSource;
    return new ReadConnection(connection, dataSource, transactions, files, troubles);
  }

  override get fault(): ApiError | undefined {
    return this.files.fault ?? this.troubles.damage.fault;
  }

  async first(sql: string, parameters: Parameters): Promise<Row | undefined> {
    if (this.transactions.isInside()) return this.inTransaction.first(sql, parameters);
    this.files.refuseIfDamaged();
    this.dataSource.logger.logQuery(sql, [...parameters]);
    return inStatementSpan(this.dataSource, sql, () => this.joined.first(sql, parameters));
  }

  private async all(sql: string, parameters: Parameters): Promise<Row[]> {
    const statement = await this.prepared(sql);
    return new Promise((resolve, reject) => {
      // Not get(): it stops at the first row and leaves the read open, in which the statement would see this state for ever.
      statement.all<Row>(parameters, (error: DriverError | null, rows) => {
        if (error) reject(this.troubles.ofReader(error, error.code));
        else resolve(rows);
      });
    });
  }

  /** Closes the connection, once the statements have ended. */
  async close(): Promise<void> {
    for (const statement of await Promise.allSettled(this.statements.values()))
      if (statement.status === 'fulfilled') statement.value.finalize();
    // Behind the statements that were evicted.
    await new Promise(setImmediate);
    await new Promise<void>((resolve, reject) => {
      this.connection.close((error) => {
        if (error) reject(error);
        else resolve();
      });
    });
  }

  private prepared(sql: string): Promise<sqlite3.Statement> {
    const known = this.statements.get(sql);
    if (known) return known;
    const preparing = new Promise<sqlite3.Statement>((resolve, reject) => {
      const statement = this.connection.prepare(sql, (error: DriverError | null) => {
        if (error) reject(this.troubles.ofReader(error, error.code));
        else resolve(statement);
      });
    });
    if (this.statements.size >= MOST_STATEMENTS) this.evictOldest();
    this.statements.set(sql, preparing);
    // A failure is not kept: the table may exist by the next time.
    preparing.catch(() => this.statements.delete(sql));
    return preparing;
  }

  /** It is prepared again when it is needed. Whoever waits for it is given it before it is finalized. */
  private evictOldest(): void {
    for (const [sql, preparing] of this.statements) {
      this.statements.delete(sql);
      preparing.then(
        (statement) => setImmediate(() => statement.finalize()),
        () => undefined,
      );
      return;
    }
  }
}

/** A connection to an SQLite file, which must be there, that cannot write. */
export async function openForReading(file: string, busyTimeoutMs: number): Promise<sqlite3.Database> {
  const connection = await new Promise<sqlite3.Database>((resolve, reject) => {
    const opened: sqlite3.Database = new sqlite3.Database(file, sqlite3.OPEN_READONLY, (error) => {
      if (error) reject(error);
      else resolve(opened);
    });
  });
  connection.configure('busyTimeout', busyTimeoutMs);
  return connection;
}

/** Reads by the connection of a DataSource: a database in memory has no other. */
export class OwnConnection extends JsonReader {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  async first(sql: string, parameters: Parameters): Promise<Row | undefined> {
    const rows: Row[] = await this.dataSource.query(sql, [...parameters]);
    return rows[0];
  }
}

import type { DataSource } from 'typeorm';
import type { ApiError } from '../../core/errors/api-error.js';
import { JsonReader, type Parameter, type Row } from '../database.js';
import { JoinedReads } from '../joined-reads.js';
import { Connection } from './connection.js';
import type { DatabaseFiles } from './availability/database-files.js';
import type { SqliteAvailability } from './availability/sqlite-availability.js';
import type { Transactions } from '../transactions/transactions.js';

/** Clients choose how lists are filtered and sorted; each choice is a separate statement. */
const PREPARED = { max: 500, accepts: () => true };

interface SqliteFile extends DataSource {
  readonly transactions: Transactions;
  readonly files: DatabaseFiles;
  readonly availability: SqliteAvailability;
}

/**
 * A second, read-only connection to an SQLite file. Thanks to the write-ahead log, it does not wait for the writer and sees commits
 * immediately. Within a transaction, the caller reads on the writing connection and sees its own writes.
 */
export class ReadConnection extends JsonReader {
  private readonly inTransaction: OwnConnection;
  private readonly joined: JoinedReads;

  private constructor(
    private readonly connection: Connection,
    private readonly dataSource: SqliteFile,
  ) {
    super();
    this.inTransaction = new OwnConnection(dataSource);
    const all = (sql: string, parameters: readonly Parameter[]) =>
      connection.all(sql, parameters).catch((error: { code?: string }) => {
        throw dataSource.availability.readError(error, error.code);
      });
    // Each statement is one hop through the thread pool.
    this.joined = new JoinedReads(all, { max: 16, areSerial: true, isShared: () => false });
  }

  /** Opens the existing file of a DataSource. */
  static async open(dataSource: SqliteFile, file: string, busyTimeoutMs: number): Promise<ReadConnection> {
    const connection = await Connection.open(file, 'read', { busyTimeoutMs, prepared: PREPARED });
    return new ReadConnection(connection, dataSource);
  }

  override get error(): ApiError | undefined {
    return this.dataSource.availability.error;
  }

  async first(sql: string, parameters: readonly Parameter[]): Promise<Row | undefined> {
    const { transactions, files, logger } = this.dataSource;
    if (transactions.isInside()) return this.inTransaction.first(sql, parameters);
    files.refuseIfDamaged();
    logger.logQuery(sql, [...parameters]);
    return this.joined.first(sql, parameters);
  }

  close(): Promise<void> {
    return this.connection.close();
  }
}

/** Reads on the DataSource's own connection, because a database in memory has no other. */
export class OwnConnection extends JsonReader {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  async first(sql: string, parameters: readonly Parameter[]): Promise<Row | undefined> {
    const rows: Row[] = await this.dataSource.query(sql, [...parameters]);
    return rows[0];
  }
}

import type { DataSource } from 'typeorm';
import type { ApiError } from '../../core/errors/api-error.js';
import { JsonReader } from '../database.js';
import type { Transactions } from '../transactions.js';
import { type Bound, Connection, type Row } from './connection.js';
import { JoinedReads } from './joined-reads.js';
import type { DatabaseFiles } from './troubles/database-files.js';
import type { DatabaseTroubles } from './troubles/database-troubles.js';

/** Clients choose how lists are filtered and sorted, each in a separate statement. */
const PREPARED = { most: 500, takes: () => true };

/** A DataSource on a file, with what is known of it. */
interface SqliteFile extends DataSource {
  readonly transactions: Transactions;
  readonly files: DatabaseFiles;
  readonly troubles: DatabaseTroubles;
}

/**
 * A second connection to an SQLite file, for reading alone: with a write-ahead log it waits for no writer, and sees at once what
 * is committed. A caller in a transaction reads in that instead, and sees its own writes.
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
    this.joined = new JoinedReads((sql, parameters) =>
      connection.all(sql, parameters).catch((error: { code?: string }) => {
        throw dataSource.troubles.ofReader(error, error.code);
      }),
    );
  }

  /** Opens the file of a DataSource, which must be there. */
  static async open(dataSource: SqliteFile, file: string, busyTimeoutMs: number): Promise<ReadConnection> {
    const connection = await Connection.open(file, 'read', { busyTimeoutMs, prepared: PREPARED });
    return new ReadConnection(connection, dataSource);
  }

  override get fault(): ApiError | undefined {
    return this.dataSource.troubles.fault;
  }

  async first(sql: string, parameters: readonly Bound[]): Promise<Row | undefined> {
    const { transactions, files, logger } = this.dataSource;
    if (transactions.isInside()) return this.inTransaction.first(sql, parameters);
    files.refuseIfDamaged();
    logger.logQuery(sql, [...parameters]);
    return this.joined.first(sql, parameters);
  }

  /** Closes the connection, once the statements have ended. */
  close(): Promise<void> {
    return this.connection.close();
  }
}

/** Reads by the connection of a DataSource: a database in memory has no other. */
export class OwnConnection extends JsonReader {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  async first(sql: string, parameters: readonly Bound[]): Promise<Row | undefined> {
    const rows: Row[] = await this.dataSource.query(sql, [...parameters]);
    return rows[0];
  }
}

import sqlite3 from 'sqlite3';
import type { DataSource } from 'typeorm';
import { JsonReader } from '../json-reader.js';
import { refusalIfBusy } from './busy.js';

type Row = Readonly<Record<string, unknown>>;

/**
 * A second connection to an SQLite file, for reading alone: with a write-ahead log it waits for no writer, and what is
 * committed it sees at once.
 */
export class ReadConnection extends JsonReader {
  private readonly statements = new Map<string, sqlite3.Statement>();

  private constructor(
    private readonly connection: sqlite3.Database,
    private readonly dataSource: DataSource,
  ) {
    super();
  }

  /** Opens the file of a DataSource, which must be there. */
  static async open(dataSource: DataSource, file: string, busyTimeoutMs: number): Promise<ReadConnection> {
    const connection = await new Promise<sqlite3.Database>((resolve, reject) => {
      const opened: sqlite3.Database = new sqlite3.Database(file, sqlite3.OPEN_READONLY, (error) => {
        if (error) reject(error);
        else resolve(opened);
      });
    });
    connection.configure('busyTimeout', busyTimeoutMs);
    return new ReadConnection(connection, dataSource);
  }

  first(sql: string, parameters: readonly (string | number)[]): Promise<Row | undefined> {
    this.dataSource.logger.logQuery(sql, [...parameters]);
    return new Promise((resolve, reject) => {
      // Not get(): it stops at the row, and the statement then reads on from this moment's state for ever.
      this.prepared(sql).all<Row>(parameters, (error: (Error & { code?: string }) | null, rows) => {
        if (error) reject(refusalIfBusy(error, error.code));
        else resolve(rows[0]);
      });
    });
  }

  /** Lets the file go, once the statements have ended. */
  async close(): Promise<void> {
    for (const statement of this.statements.values()) statement.finalize();
    await new Promise<void>((resolve, reject) => {
      this.connection.close((error) => {
        if (error) reject(error);
        else resolve();
      });
    });
  }

  private prepared(sql: string): sqlite3.Statement {
    let statement = this.statements.get(sql);
    if (!statement) this.statements.set(sql, (statement = this.connection.prepare(sql)));
    return statement;
  }
}

/** Reads by the connection of a DataSource: a database in memory has no other. */
export class OwnConnection extends JsonReader {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  async first(sql: string, parameters: readonly (string | number)[]): Promise<Row | undefined> {
    const rows: Row[] = await this.dataSource.query(sql, [...parameters]);
    return rows[0];
  }
}

import sqlite3 from 'sqlite3';

/** A row as SQLite answers it. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** The rows of a statement. */
export function rowsOf(connection: sqlite3.Database, sql: string): Promise<SqlRow[]> {
  return new Promise((resolve, reject) => {
    connection.all<SqlRow>(sql, (error, rows) => {
      if (error) reject(error);
      else resolve(rows);
    });
  });
}

/** The values of the first column of a statement, as text. */
export async function textsOf(connection: sqlite3.Database, sql: string): Promise<string[]> {
  return (await rowsOf(connection, sql)).map((row) => String(Object.values(row)[0]));
}

/** A connection that may write to a file, which must be there; it waits `busyTimeoutMs` for locks of others. */
export async function openForWriting(file: string, busyTimeoutMs: number): Promise<sqlite3.Database> {
  const connection = await new Promise<sqlite3.Database>((resolve, reject) => {
    const opened: sqlite3.Database = new sqlite3.Database(file, sqlite3.OPEN_READWRITE, (error) => {
      if (error) reject(error);
      else resolve(opened);
    });
  });
  connection.configure('busyTimeout', busyTimeoutMs);
  return connection;
}

/** Closes a connection; a transaction that is open is rolled back. */
export function closed(connection: sqlite3.Database): Promise<void> {
  return new Promise((resolve) => connection.close(() => resolve()));
}

import sqlite3 from 'sqlite3';

type Callback = (error: Error | null) => void;
const done = (work: (callback: Callback) => unknown) =>
  new Promise<void>((resolve, reject) => void work((error) => (error ? reject(error) : resolve())));

/** A connection to an SQLite file as another program opens it, without the checks of the service. */
export class SqliteFile {
  private constructor(private readonly database: sqlite3.Database) {}

  /** Opens a file, or creates it. Close it when done. */
  static async open(file: string): Promise<SqliteFile> {
    let database!: sqlite3.Database;
    await done((callback) => (database = new sqlite3.Database(file, callback)));
    return new SqliteFile(database);
  }

  /** Executes statements. */
  run(sql: string): Promise<void> {
    return done((callback) => this.database.exec(sql, callback));
  }

  /** The rows of a query. */
  rows<Row>(sql: string): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      this.database.all<Row>(sql, (error, rows) => (error ? reject(error) : resolve(rows)));
    });
  }

  /** Closes the connection. */
  close(): Promise<void> {
    return done((callback) => this.database.close(callback));
  }
}

/** Executes statements on a file, each on a separate connection. */
export async function onFile(file: string, ...statements: readonly string[]): Promise<void> {
  for (const sql of statements) await opened(file, (database) => database.run(sql));
}

/** The rows of a query on a file. */
export function rowsOf<Row>(file: string, sql: string): Promise<Row[]> {
  return opened(file, (database) => database.rows<Row>(sql));
}

async function opened<T>(file: string, use: (database: SqliteFile) => Promise<T>): Promise<T> {
  const database = await SqliteFile.open(file);
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}

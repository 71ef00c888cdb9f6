import { access } from 'node:fs/promises';
import type sqlite3 from 'sqlite3';
import { openForReading } from '../sqlite/read-connection.js';
import { naming } from '../sqlite/troubles/sqlite-errors.js';
import { CopyRefusal } from './copy-refusal.js';
import { LogBeside } from '../sqlite/log-beside.js';
import { type RawValue, rawSql } from './raw-value.js';
import type { TargetTable } from './target-schema.js';

/** How long a lock of another process is waited for, in milliseconds. */
const LOCK_WAIT_MS = 4_000;
/** Most rows that are read at once. */
const MOST_ROWS = 2_000;
/** How many bytes are read at once, about: rows may hold large texts. */
const BATCH_BYTES = 1_048_576;
/** How many rows are read first, of which nobody knows yet how large they are. */
const FIRST_ROWS = 50;

/** A row by the order of the columns of its table. */
export type RawRow = readonly RawValue[];

/** A row as SQLite answers it. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** An SQLite file that is read as it is at one moment, and cannot be written to. */
export class SqliteSource {
  private constructor(
    readonly file: string,
    private readonly connection: sqlite3.Database,
    private readonly version: unknown,
    private readonly log: LogBeside,
  ) {}

  /** Opens a file, which must be there, and begins the one transaction in which all of it is read. */
  static async open(file: string): Promise<SqliteSource> {
    await access(file).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') throw new CopyRefusal(`${file} is not there. Name the file with --from.`);
    });
    return naming(file, async () => {
      const log = await LogBeside.of(file);
      const connection = await openForReading(file, LOCK_WAIT_MS);
      try {
        const [version] = await rowsOf(connection, 'PRAGMA data_version');
        await rowsOf(connection, 'BEGIN');
        // The transaction begins with the first read.
        await rowsOf(connection, 'SELECT count(*) FROM sqlite_master');
        return new SqliteSource(file, connection, version?.['data_version'], log);
      } catch (error) {
        await closed(connection);
        await log.restore();
        throw error;
      }
    });
  }

  /** The rows of a query. */
  query(sql: string, parameters: readonly unknown[] = []): Promise<SqlRow[]> {
    return naming(this.file, () => rowsOf(this.connection, sql, parameters));
  }

  /** The names of the first column of a query. */
  async names(sql: string): Promise<string[]> {
    return (await this.query(sql)).map((row) => String(Object.values(row)[0]));
  }

  /** The columns of a table, without those that are computed. */
  columnsOf(table: string): Promise<string[]> {
    return this.names(
      `SELECT name FROM pragma_table_xinfo('${table.replaceAll("'", "''")}') WHERE hidden = 0`,
    );
  }

  /** The rows of a table in the order of its key, those after a row alone, as many at once as keep the memory small. */
  async *batches(table: TargetTable, after?: RawRow): AsyncGenerator<RawRow[]> {
    const read = pageSql(table);
    let [last, limit] = [after, FIRST_ROWS];
    for (;;) {
      const rows = await this.page(read, last, limit);
      if (rows.length > 0) yield rows;
      if (rows.length < limit) return;
      last = keyOf(table, rows.at(-1) ?? []);
      const bytes = rows.reduce((sum, row) => sum + sizeOf(row), 0);
      limit = Math.max(1, Math.min(MOST_ROWS, limit * 4, Math.floor((BATCH_BYTES * rows.length) / bytes)));
    }
  }

  /** Ends the transaction; answers whether anything was written to the file since it began. */
  async wasWritten(): Promise<boolean> {
    await this.query('COMMIT');
    const [version] = await this.query('PRAGMA data_version');
    return version?.['data_version'] !== this.version;
  }

  /** Closes the file. What reading it has put beside it is gone then. */
  async close(): Promise<void> {
    await closed(this.connection);
    await this.log.restore();
  }

  private async page(
    read: (isFirst: boolean) => string,
    last: RawRow | undefined,
    limit: number,
  ): Promise<RawRow[]> {
    const rows = await this.query(read(last === undefined), [...(last ?? []).map(boundValue), limit]);
    return rows.map((row) => Object.values(row) as RawValue[]);
  }
}

/** The values of a row's key. */
export function keyOf({ key, columns }: TargetTable, row: RawRow): RawRow {
  return key.map((name) => row[columns.findIndex((column) => column.name === name)] ?? null);
}

/** A name as SQLite and PostgreSQL take it. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The statement that reads a page; its parameters are the key that it begins after, and how many rows. */
function pageSql({ name, columns, key }: TargetTable): (isFirst: boolean) => string {
  const values = columns.map((column, at) => `${rawSql(quoted(column.name))} AS v${at}`).join(', ');
  const order = key.map(quoted).join(', ');
  // The driver cannot bind an int64; text would not be compared as a number everywhere.
  const places = key.map((part) =>
    columns.find((column) => column.name === part)?.type.startsWith('int') ? 'CAST(? AS INTEGER)' : '?',
  );
  return (isFirst) =>
    `SELECT ${values} FROM ${quoted(name)} ` +
    `${isFirst ? '' : `WHERE (${order}) > (${places.join(', ')})`} ORDER BY ${order} LIMIT ?`;
}

/** A value of a key as the driver binds it. */
function boundValue(raw: RawValue): unknown {
  if (Buffer.isBuffer(raw)) return raw.toString('utf8');
  return typeof raw === 'string' && raw.startsWith('x') ? Buffer.from(raw.slice(1), 'hex') : raw;
}

function sizeOf(row: RawRow): number {
  return row.reduce<number>((sum, raw) => sum + (typeof raw === 'number' ? 8 : (raw?.length ?? 1)), 8);
}

function rowsOf(connection: sqlite3.Database, sql: string, parameters: readonly unknown[] = []) {
  return new Promise<SqlRow[]>((resolve, reject) => {
    connection.all<SqlRow>(sql, parameters, (error, rows) => {
      if (error) reject(error);
      else resolve(rows);
    });
  });
}

function closed(connection: sqlite3.Database): Promise<void> {
  return new Promise((resolve) => connection.close(() => resolve()));
}

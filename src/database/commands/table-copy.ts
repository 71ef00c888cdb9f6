import { ApiError } from '../../core/errors/api-error.js';
import type { Database } from '../database.js';
import { openingFailure } from '../postgres/postgres-errors.js';
import { quoted } from '../dialect.js';
import type { Connection } from '../sqlite/connection.js';
import { DatabaseRefusal } from './refusal.js';

/** A column of PostgreSQL that is copied. */
export interface TargetColumn {
  readonly table: string;
  readonly name: string;
  /** Its type without length, precision and scale. */
  readonly type: string;
  /** The same with them. */
  readonly fullType: string;
  readonly isText: boolean;
  /** The sequence that numbers it. */
  readonly sequence: string | null;
}

/** How many rows are copied at first, of which nobody knows yet how large they are, and at most at once. */
const [FIRST_ROWS, MOST_ROWS] = [50, 2_000];
/** How many bytes are copied at once, about. */
const BATCH_BYTES = 1_048_576;
/** How much of a key is shown, in characters. */
const MOST_SHOWN = 60;
/** The least id of a row that SQLite has. */
const LEAST_ID = '-9223372036854775808';
const LARGEST_ID = 9_223_372_036_854_775_807n;
/** SQLSTATE of what is wrong with a value: data exceptions, constraints, limits. */
const OF_A_VALUE = /^(?:22|23|54)/;
/** SQLSTATE of what names the key or the character in its detail; others have the whole row there, with its secrets. */
const TELLING = /^(?:23505|23503|22P05)$/;

/** Rows that follow each other, as SQLite answers them: each column as a JSON array in UTF-8. */
interface Batch {
  readonly rows: number;
  /** The id of the last one. */
  readonly last: string;
  /** How many blobs are in columns of text. */
  readonly blobs: number;
  readonly columns: readonly Buffer[];
}

/**
 * Copies the rows of one table. SQLite writes the values of a batch as JSON, and PostgreSQL reads each of them as the text of its type: no
 * value is rounded or repaired on its way through the driver, and whatever PostgreSQL would refuse or change ends the copy.
 */
export class TableCopy {
  private readonly reading: string;
  private readonly writing: string;
  /** Its rows with an id, which those of a table WITHOUT ROWID are given by their order. */
  private readonly numbered: string;

  private constructor(
    private readonly source: Connection,
    private readonly target: Database,
    private readonly table: string,
    private readonly columns: readonly TargetColumn[],
    /** The columns of its primary key. */
    private readonly keys: readonly string[],
    hasIds: boolean,
  ) {
    const names = columns.map(({ name }) => quoted(name)).join(', ');
    const id = hasIds ? '_rowid_' : `row_number() OVER (ORDER BY ${keys.map(quoted).join(', ')})`;
    this.numbered = `SELECT ${id} AS _rowid_, ${names} FROM ${quoted(table)}`;
    this.reading = readSql(this.numbered, columns);
    this.writing = writeSql(table, names, columns);
  }

  /** That of the table of this name, which both databases have. */
  static async of(
    source: Connection,
    target: Database,
    table: string,
    columns: readonly TargetColumn[],
  ): Promise<TableCopy> {
    const keys = await source.texts('SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk', [
      table,
    ]);
    const [isWithoutIds] = await source.texts('SELECT wr FROM pragma_table_list(?)', [table]);
    return new TableCopy(source, target, table, columns, keys, isWithoutIds === '0');
  }

  /** Copies all rows; answers how many. `tick` is told of each batch, and throws to stop. */
  async run(tick: (rows: number) => void): Promise<number> {
    let [from, limit, copied] = [LEAST_ID, FIRST_ROWS, 0];
    for (;;) {
      const batch = await this.read(from, limit);
      if (batch.rows === 0) return copied;
      try {
        await this.write(batch);
      } catch (error) {
        if (!isOfAValue(error)) throw error;
        // Halved until the row is found.
        if (batch.rows === 1) throw new DatabaseRefusal(await this.complaint(batch.last, error));
        limit = batch.rows >> 1;
        continue;
      }
      copied += batch.rows;
      tick(batch.rows);
      if (BigInt(batch.last) === LARGEST_ID) return copied;
      from = String(BigInt(batch.last) + 1n);
      const bytes = batch.columns.reduce((sum, { length }) => sum + length, 0);
      limit = Math.max(1, Math.min(MOST_ROWS, limit * 4, Math.floor((BATCH_BYTES * batch.rows) / bytes)));
    }
  }

  private async read(from: string, limit: number): Promise<Batch> {
    const [row] = await this.source.all<Omit<Batch, 'columns'> & Record<string, Buffer>>(this.reading, [
      from,
      limit,
    ]);
    if (!row) throw new Error(`${this.table} answers nothing`);
    return { ...row, columns: this.columns.map((_, at) => row[`v${at}`] ?? Buffer.of()) };
  }

  private async write({ rows, blobs, columns }: Batch): Promise<void> {
    if (blobs > 0) throw new ValueFault('a blob is in a column of text');
    const [stored] = await this.target.query<{ count: number }[]>(this.writing, [...columns]);
    if (stored?.count !== rows) throw new ValueFault(`it does not fit ${this.limits()}`);
  }

  private limits(): string {
    const limited = this.columns.filter(({ type, fullType }) => type !== fullType);
    return limited.map(({ name, fullType }) => `${name} ${fullType}`).join(', ');
  }

  /** Such as `pets id 17: …`. */
  private async complaint(id: string, error: unknown): Promise<string> {
    const keys = this.keys.map((key) => `CAST(${quoted(key)} AS TEXT) AS ${quoted(key)}`).join(', ');
    const sql = `SELECT ${keys} FROM (${this.numbered}) WHERE _rowid_ = CAST(? AS INTEGER)`;
    const [row = {}] = keys === '' ? [] : await this.source.all(sql, [id]);
    const key = Object.entries(row).map(([name, value]) => ` ${name} ${String(value).slice(0, MOST_SHOWN)}`);
    return `${this.table}${key.join('')}: ${reasonOf(error)}. Nothing was copied; correct it in the file, then copy.`;
  }
}

/**
 * Why PostgreSQL refused something, and the values of a key that is there twice, or that refers to nothing. What is said of DATABASE_URL is
 * said of the option that names the target.
 */
export function reasonOf(error: unknown): string {
  const cause = error instanceof ApiError ? error.cause : error;
  const { code = '', detail } = driverErrorOf(cause);
  const why = openingFailure(cause).replaceAll('DATABASE_URL', '--to').replace(/\.$/, '');
  return why + (TELLING.test(code) && detail !== undefined ? ` (${detail})` : '');
}

/** A value that PostgreSQL would store in another way. */
class ValueFault extends Error {}

function isOfAValue(error: unknown): boolean {
  return error instanceof ValueFault || OF_A_VALUE.test(driverErrorOf(error).code ?? '');
}

function driverErrorOf(error: unknown): { readonly code?: string; readonly detail?: string } {
  return (error as { driverError?: object }).driverError ?? {};
}

/** The statement that reads a batch; its parameters are the id that it begins with, and how many rows. */
function readSql(numbered: string, columns: readonly TargetColumn[]): string {
  const values = columns.map(({ name, type }, at) => {
    const column = quoted(name);
    const value =
      type === 'bytea'
        ? `CASE WHEN ${column} IS NOT NULL THEN '\\x' || hex(${column}) END`
        : // JSON itself would round a REAL, and take a blob for JSON.
          `CASE typeof(${column}) WHEN 'real' THEN CAST(${column} AS TEXT) WHEN 'blob' THEN '\\x' || hex(${column}) ELSE ${column} END`;
    // As bytes: the driver would repair what is no UTF-8, which PostgreSQL refuses.
    return `CAST(json_group_array(${value}) AS BLOB) AS v${at}`;
  });
  const blobs = columns
    .filter(({ isText }) => isText)
    .map(({ name }) => `total(typeof(${quoted(name)}) = 'blob')`);
  return (
    `SELECT count(*) AS rows, CAST(max(_rowid_) AS TEXT) AS last, ${blobs.join(' + ') || '0'} AS blobs, ${values.join(', ')} ` +
    `FROM (SELECT * FROM (${numbered}) WHERE _rowid_ >= CAST(? AS INTEGER) ORDER BY _rowid_ LIMIT ?)`
  );
}

/** The statement that writes a batch and answers how many of its rows are stored: one that would be cut or rounded is not. */
function writeSql(table: string, names: string, columns: readonly TargetColumn[]): string {
  const arrays = columns.map((_, at) => `json_array_elements_text($${at + 1}::json)`).join(', ');
  const values = columns.map(({ type }, at) => `v${at}::${type}`).join(', ');
  const fits = columns.flatMap(({ type, fullType }, at) =>
    type === fullType ? [] : [`v${at}::${type}::${fullType} IS NOT DISTINCT FROM v${at}::${type}`],
  );
  return (
    `WITH stored AS (INSERT INTO ${quoted(table)} (${names}) OVERRIDING SYSTEM VALUE SELECT ${values} ` +
    `FROM ROWS FROM (${arrays}) AS batch (${columns.map((_, at) => `v${at}`).join(', ')}) ` +
    `${fits.length > 0 ? `WHERE ${fits.join(' AND ')} ` : ''}RETURNING 1) SELECT count(*)::int AS count FROM stored`
  );
}

import { ApiError } from '../../core/errors/api-error.js';
import type { Database } from '../database.js';
import { openingFailure } from '../postgres/postgres-errors.js';
import { quoted } from '../dialect.js';
import type { Connection } from '../sqlite/connection.js';
import { Refusal } from '../../core/refusal.js';

/** A column of PostgreSQL that is copied. */
export interface TargetColumn {
  readonly name: string;
  /** Its type without length, precision and scale. */
  readonly type: string;
  /** Its type with length, precision and scale. */
  readonly fullType: string;
  readonly isText: boolean;
  /** The sequence of its default. */
  readonly sequence: string | null;
}

/** Rows of the first batch, while their size is unknown, and of the largest. */
const [FIRST_ROWS, MAX_ROWS] = [50, 2_000];
/** Approximate size of a batch, in bytes. */
const BATCH_BYTES = 1_048_576;
/** Maximum length of a key in a message, in characters. */
const MAX_SHOWN = 60;
/** Less than any rowid of SQLite. */
const BELOW_ALL_IDS = '-1e19';
/** SQLSTATE classes of errors in a value: data exceptions, constraints, limits. */
const IS_VALUE_ERROR = /^(?:22|23|54)/;
/** SQLSTATE of errors whose detail names only the key or character. Other details contain the whole row, including its secrets. */
const HAS_SAFE_DETAIL = /^(?:23505|23503|22P05)$/;

/** Consecutive rows from SQLite: each column (`v0`, `v1` …) as a JSON array in UTF-8. */
interface Batch extends Record<string, unknown> {
  readonly rows: number;
  readonly last: string;
  readonly blobs: number;
}

/** A value that PostgreSQL would store differently. */
class ValueError extends Error {}

/**
 * Copies the rows of one table and returns their number. SQLite writes the values of a batch as JSON, and PostgreSQL parses each from text,
 * so no driver rounds or repairs a value, and a value that PostgreSQL would reject or change ends the copy. `onRows` is called with the
 * size of each batch and may throw to stop the copy.
 */
export async function copyTable(
  source: Connection,
  target: Database,
  table: string,
  columns: readonly TargetColumn[],
  onRows: (rows: number) => void,
): Promise<number> {
  const keys = await source.texts('SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk', [table]);
  const [isWithoutIds] = await source.texts('SELECT wr FROM pragma_table_list(?)', [table]);
  const id = isWithoutIds === '0' ? '_rowid_' : `row_number() OVER (ORDER BY ${keys.map(quoted).join(', ')})`;
  const names = columns.map(({ name }) => quoted(name)).join(', ');
  const numbered = `SELECT ${id} AS _rowid_, ${names} FROM ${quoted(table)}`;
  const [reading, writing] = [readSql(numbered, columns), writeSql(table, names, columns)];
  let [after, limit, copied] = [BELOW_ALL_IDS, FIRST_ROWS, 0];
  for (;;) {
    const [batch] = await source.all<Batch>(reading, [after, limit]);
    if (!batch || batch.rows === 0) return copied;
    const { rows, last, blobs } = batch;
    const values = columns.map((_, at) => batch[`v${at}`] as Buffer);
    try {
      if (blobs > 0) throw new ValueError('a blob is in a column of text');
      const [stored] = await target.query<{ count: number }[]>(writing, values);
      if (stored?.count !== rows) throw new ValueError(`it does not fit ${limitsOf(columns)}`);
    } catch (error) {
      if (!(error instanceof ValueError) && !IS_VALUE_ERROR.test(driverErrorOf(error).code ?? ''))
        throw error;
      if (rows === 1) throw await rowError(source, table, numbered, keys, last, error);
      // Halve the batch until it is the offending row alone.
      limit = rows >> 1;
      continue;
    }
    copied += rows;
    onRows(rows);
    after = last;
    const bytes = values.reduce((sum, { length }) => sum + length, 0);
    limit = Math.max(1, Math.min(MAX_ROWS, limit * 4, Math.floor((BATCH_BYTES * rows) / bytes)));
  }
}

/** An error that names the row, such as `pets id 17: …`. */
async function rowError(
  source: Connection,
  table: string,
  numbered: string,
  keys: readonly string[],
  id: string,
  error: unknown,
): Promise<Refusal> {
  const shown = keys.map((key) => `CAST(${quoted(key)} AS TEXT) AS ${quoted(key)}`).join(', ');
  const sql = `SELECT ${shown} FROM (${numbered}) WHERE _rowid_ = CAST(? AS INTEGER)`;
  const [row = {}] = shown === '' ? [] : await source.all(sql, [id]);
  const key = Object.entries(row).map(([name, value]) => ` ${name} ${String(value).slice(0, MAX_SHOWN)}`);
  return new Refusal(
    `${table}${key.join('')}: ${reasonOf(error)}. Nothing was copied; correct it in the file, then copy.`,
  );
}

function limitsOf(columns: readonly TargetColumn[]): string {
  const limited = columns.filter(({ type, fullType }) => type !== fullType);
  return limited.map(({ name, fullType }) => `${name} ${fullType}`).join(', ');
}

/**
 * The reason of an error from PostgreSQL, with the values of a duplicate key or dangling reference. Advice about DATABASE_URL names `--to`
 * instead.
 */
export function reasonOf(error: unknown): string {
  const cause = error instanceof ApiError ? error.cause : error;
  const { code = '', detail } = driverErrorOf(cause);
  const reason = openingFailure(cause).replaceAll('DATABASE_URL', '--to').replace(/\.$/, '');
  return reason + (HAS_SAFE_DETAIL.test(code) && detail !== undefined ? ` (${detail})` : '');
}

function driverErrorOf(error: unknown): { readonly code?: string; readonly detail?: string } {
  return (error as { driverError?: object }).driverError ?? {};
}

/** The statement that reads a batch; its parameters are the last id of the previous batch and the number of rows. */
function readSql(numbered: string, columns: readonly TargetColumn[]): string {
  const values = columns.map(({ name, type }, at) => {
    const column = quoted(name);
    const value =
      type === 'bytea'
        ? `CASE WHEN ${column} IS NOT NULL THEN '\\x' || hex(${column}) END`
        : // SQLite's JSON functions would round a REAL and parse a blob as JSON.
          `CASE typeof(${column}) WHEN 'real' THEN CAST(${column} AS TEXT) WHEN 'blob' THEN '\\x' || hex(${column}) ELSE ${column} END`;
    // As bytes, so that the driver does not replace invalid UTF-8, which PostgreSQL rejects.
    return `CAST(json_group_array(${value}) AS BLOB) AS v${at}`;
  });
  const blobs = columns
    .filter(({ isText }) => isText)
    .map(({ name }) => `total(typeof(${quoted(name)}) = 'blob')`);
  return (
    `SELECT count(*) AS rows, CAST(max(_rowid_) AS TEXT) AS last, ${blobs.join(' + ') || '0'} AS blobs, ${values.join(', ')} ` +
    `FROM (SELECT * FROM (${numbered}) WHERE _rowid_ > CAST(? AS NUMERIC) ORDER BY _rowid_ LIMIT ?)`
  );
}

/** The statement that writes a batch and returns the number of stored rows; it skips rows that would be truncated or rounded. */
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

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
  /** The same with them. */
  readonly fullType: string;
  readonly isText: boolean;
  /** The sequence that numbers it. */
  readonly sequence: string | null;
}

/** How many rows are copied at first, while their size is unknown, and at most at once. */
const [FIRST_ROWS, MOST_ROWS] = [50, 2_000];
/** How many bytes are copied at once, about. */
const BATCH_BYTES = 1_048_576;
/** How much of a key is shown, in characters. */
const MOST_SHOWN = 60;
/** Less than any id of a row that SQLite has. */
const BELOW_ALL_IDS = '-1e19';
/** SQLSTATE of faults of a value: data exceptions, constraints, limits. */
const OF_A_VALUE = /^(?:22|23|54)/;
/** SQLSTATE of errors whose detail names the key or the character; that of others has the whole row, with its secrets. */
const TELLING = /^(?:23505|23503|22P05)$/;

/** Consecutive rows, as SQLite returns them: each column, `v0` and so on, as a JSON array in UTF-8. */
interface Batch extends Record<string, unknown> {
  readonly rows: number;
  /** The id of the last one. */
  readonly last: string;
  /** How many blobs are in columns of text. */
  readonly blobs: number;
}

/** A value that PostgreSQL would store differently. */
class ValueFault extends Error {}

/**
 * Copies the rows of one table; returns their number. SQLite writes the values of a batch as JSON, and PostgreSQL reads each of them as the
 * text of its type: no value is rounded or repaired by a driver, and whatever PostgreSQL would refuse or change ends the copy. `tick` is
 * called with the number of rows of each batch, and throws to stop.
 */
export async function copyTable(
  source: Connection,
  target: Database,
  table: string,
  columns: readonly TargetColumn[],
  tick: (rows: number) => void,
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
      if (blobs > 0) throw new ValueFault('a blob is in a column of text');
      const [stored] = await target.query<{ count: number }[]>(writing, values);
      if (stored?.count !== rows) throw new ValueFault(`it does not fit ${limitsOf(columns)}`);
    } catch (error) {
      if (!(error instanceof ValueFault) && !OF_A_VALUE.test(driverErrorOf(error).code ?? '')) throw error;
      if (rows === 1) throw await complaint(source, table, numbered, keys, last, error);
      // Halved until the row is found.
      limit = rows >> 1;
      continue;
    }
    copied += rows;
    tick(rows);
    after = last;
    const bytes = values.reduce((sum, { length }) => sum + length, 0);
    limit = Math.max(1, Math.min(MOST_ROWS, limit * 4, Math.floor((BATCH_BYTES * rows) / bytes)));
  }
}

/** Names the row with an id, such as `pets id 17: …`. */
async function complaint(
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
  const key = Object.entries(row).map(([name, value]) => ` ${name} ${String(value).slice(0, MOST_SHOWN)}`);
  return new Refusal(
    `${table}${key.join('')}: ${reasonOf(error)}. Nothing was copied; correct it in the file, then copy.`,
  );
}

function limitsOf(columns: readonly TargetColumn[]): string {
  const limited = columns.filter(({ type, fullType }) => type !== fullType);
  return limited.map(({ name, fullType }) => `${name} ${fullType}`).join(', ');
}

/**
 * Why PostgreSQL refused something, and the values of a duplicate key or of one that refers to nothing. Advice about DATABASE_URL names
 * the option of the target instead.
 */
export function reasonOf(error: unknown): string {
  const cause = error instanceof ApiError ? error.cause : error;
  const { code = '', detail } = driverErrorOf(cause);
  const why = openingFailure(cause).replaceAll('DATABASE_URL', '--to').replace(/\.$/, '');
  return why + (TELLING.test(code) && detail !== undefined ? ` (${detail})` : '');
}

function driverErrorOf(error: unknown): { readonly code?: string; readonly detail?: string } {
  return (error as { driverError?: object }).driverError ?? {};
}

/** The statement that reads a batch; its parameters are the id after which it begins, and the number of rows. */
function readSql(numbered: string, columns: readonly TargetColumn[]): string {
  const values = columns.map(({ name, type }, at) => {
    const column = quoted(name);
    const value =
      type === 'bytea'
        ? `CASE WHEN ${column} IS NOT NULL THEN '\\x' || hex(${column}) END`
        : // JSON itself would round a REAL, and take a blob for JSON.
          `CASE typeof(${column}) WHEN 'real' THEN CAST(${column} AS TEXT) WHEN 'blob' THEN '\\x' || hex(${column}) ELSE ${column} END`;
    // As bytes: the driver would repair what is not UTF-8, which PostgreSQL refuses.
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

/** The statement that writes a batch and returns the number of stored rows: a row that would be truncated or rounded is not stored. */
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

/**
 * A value as SQLite stores it, without loss: an integer is its digits, text its bytes (which need not be UTF-8), a blob `x` and its
 * hexadecimal digits.
 */
export type RawValue = string | number | Buffer | null;

/** SQLite's storage classes ("Datatypes In SQLite", section 2). */
export type StorageClass = 'null' | 'integer' | 'real' | 'text' | 'blob';

/** An expression of SQLite: the RawValue of a column. The driver itself would round integers and repair text. */
export function rawSql(column: string): string {
  return (
    `CASE typeof(${column}) WHEN 'text' THEN CAST(${column} AS BLOB) WHEN 'integer' THEN CAST(${column} AS TEXT) ` +
    `WHEN 'blob' THEN 'x' || hex(${column}) ELSE ${column} END`
  );
}

/** How SQLite stores a value. */
export function storageClassOf(raw: RawValue): StorageClass {
  if (raw === null) return 'null';
  if (typeof raw === 'number') return 'real';
  if (typeof raw === 'string') return raw.startsWith('x') ? 'blob' : 'integer';
  return 'text';
}

/** A value as people may see it: in one line, shortened. */
export function shownRaw(raw: RawValue): string {
  const text = Buffer.isBuffer(raw) ? JSON.stringify(raw.toString('utf8')) : String(raw);
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
}

/** Most characters that are shown of a value. */
const MOST_SHOWN = 60;

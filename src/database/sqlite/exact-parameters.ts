import type { ObjectLiteral } from 'typeorm';
import type { SqliteDriver } from 'typeorm/driver/sqlite/SqliteDriver.js';
import { DateUtils } from 'typeorm/util/DateUtils.js';
import { INT64_MAX, INT64_MIN } from '../int64.js';

/** The parameters of a statement: by position, or by name, such as `$id`. */
export type Parameters = readonly unknown[] | Readonly<Record<string, unknown>>;

/** Strings, quoted names, comments and plain names, which may contain `?` or `$`; then a parameter in SQLite's syntax. */
const TOKENS =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[^]*?(?:\*\/|$)|[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*|(\?\d*|[:@$][\w$\u0080-\uffff]+)/g;

/**
 * Rewrites a statement and its parameters so that sqlite3 binds them exactly. sqlite3 binds an integer beyond 32 bits as a double, a bigint
 * as NULL, and a Date as a number, where TypeORM stores text. Large integers are bound as text and cast in the statement, because text
 * compares greater than every number; the `+` removes the affinity of the cast. Throws RangeError for a bigint beyond 64 bits.
 */
export function exactParameters(sql: string, parameters: Parameters | undefined): [string, Parameters] {
  const values = Array.isArray(parameters) ? (parameters as unknown[]) : Object.values(parameters ?? {});
  if (!parameters || values.every(isExact)) return [sql, parameters ?? []];
  const named = parameters as Readonly<Record<string, unknown>>;
  const names: string[] = [];
  const rewritten = sql.replaceAll(TOKENS, (token, parameter?: string) => {
    if (parameter === undefined) return token;
    const number = Number(parameter.slice(1));
    const knownIndex = parameter.startsWith('?') ? number - 1 : names.indexOf(parameter);
    const index = knownIndex < 0 ? names.length : knownIndex;
    names[index] ??= parameter;
    const value = Array.isArray(parameters)
      ? (parameters as unknown[])[index]
      : (named[parameter] ?? named[index + 1]);
    return typeof exact(value) === 'bigint' ? `+CAST(${token} AS INTEGER)` : token;
  });
  const bound = (value: unknown): unknown => {
    const one = exact(value);
    return typeof one === 'bigint' ? String(one) : one;
  };
  if (Array.isArray(parameters)) return [rewritten, values.map(bound)];
  return [rewritten, Object.fromEntries(Object.entries(named).map(([name, value]) => [name, bound(value)]))];
}

/** Whether sqlite3 binds the value unchanged. */
function isExact(value: unknown): boolean {
  if (typeof value === 'number') return (value | 0) === value || !Number.isSafeInteger(value);
  return typeof value !== 'bigint' && !(value instanceof Date);
}

/** A value that sqlite3 binds unchanged, or a bigint beyond 32 bits. */
function exact(value: unknown): unknown {
  if (value instanceof Date) return DateUtils.mixedDateToUtcDatetimeString(value);
  if (isExact(value)) return value;
  const integer = BigInt(value as number | bigint);
  if (integer < INT64_MIN || integer > INT64_MAX) throw new RangeError(`${integer} needs more than 64 bits.`);
  return BigInt.asIntN(32, integer) === integer ? Number(integer) : integer;
}

/**
 * Makes a driver write doubles with 17 digits, because TypeORM puts numbers into the statement, and SQLite parses some shorter ones as an
 * adjacent double.
 */
export function writeDoublesExactly(driver: SqliteDriver): void {
  const escape = driver.escapeQueryWithParameters.bind(driver);
  driver.escapeQueryWithParameters = (sql, parameters, nativeParameters) =>
    escape(sql, exactDoubles(parameters), nativeParameters);
}

function exactDoubles(parameters: ObjectLiteral): ObjectLiteral {
  const isDouble = (value: unknown): value is number =>
    Number.isFinite(value) && !Number.isSafeInteger(value);
  // Absent for a statement without parameters.
  if (!Object.values((parameters as ObjectLiteral | undefined) ?? {}).some(isDouble)) return parameters;
  const exactOf = (value: unknown): unknown => (isDouble(value) ? () => value.toPrecision(17) : value);
  return Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, exactOf(value)]));
}

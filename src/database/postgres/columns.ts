import type { TableColumn } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { DECIMALS, textOf } from '../decimals.js';
import { isAutoIncrement, numberTransformer, storesInteger } from '../int64.js';

/** Text types in entities and migrations. */
const TEXTS = new Set<unknown>([
  'varchar',
  'character varying',
  'char',
  'text',
  'simple-json',
  'simple-array',
  String,
]);

/** A numeric default as written by TypeORM and returned by PostgreSQL: `'1.5'`, `1.5`, `'-1.5'`. */
const NUMBER = /^'?([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)'?$/i;

/** Compares numeric defaults as numbers; TypeORM compares them as text. */
export function compareNumericDefaults(driver: PostgresDriver): void {
  const compared = driver as unknown as {
    defaultEqual: (column: ColumnMetadata, found: { readonly default?: unknown }) => boolean;
  };
  const areEqual = compared.defaultEqual.bind(driver);
  compared.defaultEqual = (column, found) => {
    if (areEqual(column, found)) return true;
    const { default: declared, type } = column;
    if (typeof declared !== 'number' && (typeof declared !== 'string' || !DECIMALS.has(type))) return false;
    const [one, other] = [declared, found.default].map((value) => NUMBER.exec(String(value))?.[1]);
    return one !== undefined && other !== undefined && textOf(one) === textOf(other);
  };
}

/** Adapts a column that an entity or migration declares for both databases. */
export function adaptForPostgres(column: ColumnMetadata | TableColumn): void {
  const autoIncrement = isAutoIncrement(column);
  if ('propertyName' in column) {
    if (autoIncrement) column.transformer ??= numberTransformer;
    // `int8`, because TypeORM compares a generated `bigint` as text, and would insert existing relations again.
    if (autoIncrement || storesInteger(column)) column.type = 'int8';
  } else if (autoIncrement) column.type = 'bigint';
  // Text is compared and sorted by bytes, as on SQLite.
  if (TEXTS.has(column.type)) column.collation ??= 'C';
}

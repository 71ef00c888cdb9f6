import type { TableColumn } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { int64Transformer } from '../int64.js';

/** Types of columns that hold text, as entities and migrations name them. */
const TEXTS = new Set<unknown>([
  'varchar',
  'character varying',
  'char',
  'text',
  'simple-json',
  'simple-array',
  String,
]);

/** Types of columns that hold an integer, as entities and migrations name them. */
const INTEGERS = new Set<unknown>(['integer', 'int', Number]);
/** PostgreSQL's bigint arrives as text. */
const numberTransformer = { from: Number, to: (value: unknown) => value };

/** Gives a column of an entity or a migration, declared for both databases, what it needs here. */
export function suitColumn(column: ColumnMetadata | TableColumn): void {
  // SQLite's `integer` has 64 bits, whether a generated id is read as a bigint or as a number.
  const isCounted =
    column.isGenerated && column.generationStrategy === 'increment' && INTEGERS.has(column.type);
  if ('propertyName' in column) {
    if (isCounted) column.transformer ??= numberTransformer;
    // Its other name: TypeORM compares a generated `bigint` as text, and would insert what a relation has already.
    if (isCounted || column.transformer === int64Transformer) column.type = 'int8';
  } else if (isCounted) column.type = 'bigint';
  // Text is compared and ordered by bytes, as on SQLite.
  if (TEXTS.has(column.type)) column.collation ??= 'C';
}

import type { TableColumn, ValueTransformer } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { int64Transformer, isCounted, numberTransformer } from '../int64.js';

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

/** Gives a column of an entity or a migration, declared for both databases, what it needs here. */
export function suitColumn(column: ColumnMetadata | TableColumn): void {
  const counted = isCounted(column);
  if ('propertyName' in column) {
    if (counted) column.transformer ??= numberTransformer;
    // Its other name: TypeORM compares a generated `bigint` as text, and would insert what a relation has already.
    if (counted || [int64Transformer, numberTransformer].includes(column.transformer as ValueTransformer))
      column.type = 'int8';
  } else if (counted) column.type = 'bigint';
  // Text is compared and ordered by bytes, as on SQLite.
  if (TEXTS.has(column.type)) column.collation ??= 'C';
}

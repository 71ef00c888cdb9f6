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

/** Gives a column of an entity or a migration, declared for both databases, what it needs here. */
export function suitColumn(column: ColumnMetadata | TableColumn): void {
  const isInt64 =
    'propertyName' in column
      ? column.transformer === int64Transformer
      : // As SQLite's `integer` does.
        column.isGenerated && column.generationStrategy === 'increment' && column.type === 'integer';
  if (isInt64) column.type = 'bigint';
  // Text is compared and ordered by bytes, as on SQLite.
  if (TEXTS.has(column.type)) column.collation ??= 'C';
}

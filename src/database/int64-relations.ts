import { type EntityMetadata, type ObjectLiteral, getMetadataArgsStorage } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import '../core/patches/typeorm.js';
import { isAutoIncrement, isInt64, numberTransformer } from './int64.js';

/**
 * Widens every column that refers to a 64-bit key to 64 bits, and reads it with the type of its property. TypeORM copies the name of the
 * key's type instead: `integer` has 64 bits on SQLite, but 32 on PostgreSQL.
 */
export function widenInt64Relations(entities: readonly EntityMetadata[]): void {
  const references = entities.flatMap(({ columns, relations, foreignKeys }) => [
    ...[
      columns,
      ...relations.flatMap(({ joinColumns, inverseJoinColumns }) => [joinColumns, inverseJoinColumns]),
    ].flatMap((all) => all.map((column) => [column, column.referencedColumn] as const)),
    ...foreignKeys.flatMap((key) =>
      key.columns.map((column, at) => [column, key.referencedColumns[at]] as const),
    ),
  ]);
  // A key may itself be a foreign key; repeat until nothing changes.
  while (references.map(([column, key]) => key !== undefined && widen(column, key)).includes(true));
  for (const column of entities.flatMap(({ columns }) => columns)) compareAsText(column);
}

/** TypeORM compares ids of relations with the values that the driver returns, which are text for an int64. */
function compareAsText(column: ColumnMetadata): void {
  const compare = column.compareEntityValue.bind(column);
  column.compareEntityValue = (entity: ObjectLiteral, id: unknown) =>
    isInt64(column) || isAutoIncrement(column)
      ? String(column.getEntityValue(entity)) === String(id)
      : compare(entity, id);
}

/** Returns whether the column was changed. */
function widen(column: ColumnMetadata, key: ColumnMetadata): boolean {
  if (column.isGenerated || hasTypeOfInt64(column.type)) return false;
  if (!isInt64(key) && !isAutoIncrement(key)) return false;
  column.type = 'bigint';
  if (column.isVirtual)
    column.transformer ??= key.transformer ?? (isAutoIncrement(key) ? numberTransformer : undefined);
  // A `bigint` without a transformer is refused by database/entity-checks.ts.
  else if (!hasTypeOfInt64(declaredType(column))) column.transformer ??= numberTransformer;
  return true;
}

function hasTypeOfInt64(type: unknown): boolean {
  return type === 'bigint' || type === 'int8';
}

/** The declared type of a property, which TypeORM has replaced with that of the key. */
function declaredType({ target, propertyName }: ColumnMetadata): unknown {
  return getMetadataArgsStorage().columns.find(
    (declared) => declared.target === target && declared.propertyName === propertyName,
  )?.options.type;
}

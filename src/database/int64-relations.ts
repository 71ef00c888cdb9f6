import { type EntityMetadata, type ObjectLiteral, getMetadataArgsStorage } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import '../core/patches/typeorm.js';
import { isCounted, isInt64, numberTransformer } from './int64.js';

/**
 * Gives every column that refers to a key of 64 bits as many, and reads it as its property has it. TypeORM gives it the name of the key's
 * type instead, also where a property declares it beside the relation: `integer` has 64 bits on SQLite, and 32 on PostgreSQL.
 */
export function suitRelations(entities: readonly EntityMetadata[]): void {
  const references = entities.flatMap(({ columns, relations, foreignKeys }) => [
    ...[
      columns,
      ...relations.flatMap(({ joinColumns, inverseJoinColumns }) => [joinColumns, inverseJoinColumns]),
    ].flatMap((all) => all.map((column) => [column, column.referencedColumn] as const)),
    ...foreignKeys.flatMap((key) =>
      key.columns.map((column, at) => [column, key.referencedColumns[at]] as const),
    ),
  ]);
  // A key may itself refer to another, which follows here.
  while (references.map(([column, key]) => key !== undefined && widen(column, key)).includes(true));
  for (const column of entities.flatMap(({ columns }) => columns)) compareAsText(column);
}

/** Ids of relations that TypeORM reads by queries are compared as the driver returns them, where an int64 is a text. */
function compareAsText(column: ColumnMetadata): void {
  const compare = column.compareEntityValue.bind(column);
  column.compareEntityValue = (entity: ObjectLiteral, id: unknown) =>
    isInt64(column) || isCounted(column)
      ? String(column.getEntityValue(entity)) === String(id)
      : compare(entity, id);
}

/** Returns whether it has changed the column. */
function widen(column: ColumnMetadata, key: ColumnMetadata): boolean {
  if (column.isGenerated || hasTypeOfInt64(column.type)) return false;
  if (!isInt64(key) && !isCounted(key)) return false;
  column.type = 'bigint';
  if (column.isVirtual)
    column.transformer ??= key.transformer ?? (isCounted(key) ? numberTransformer : undefined);
  // One that is declared as a `bigint` without a transformer is refused (database/entity-checks.ts).
  else if (!hasTypeOfInt64(declaredType(column))) column.transformer ??= numberTransformer;
  return true;
}

function hasTypeOfInt64(type: unknown): boolean {
  return type === 'bigint' || type === 'int8';
}

/** The type that a property declares; TypeORM has replaced it by that of the key. */
function declaredType({ target, propertyName }: ColumnMetadata): unknown {
  return getMetadataArgsStorage().columns.find(
    (declared) => declared.target === target && declared.propertyName === propertyName,
  )?.options.type;
}

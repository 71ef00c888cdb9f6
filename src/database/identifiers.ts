import type { EntityMetadata } from 'typeorm';

/** PostgreSQL truncates longer names, including those of indexes and constraints. */
export const MAX_IDENTIFIER_BYTES = 63;

/** Whether PostgreSQL would truncate a name. */
export function isTooLong(name: string): boolean {
  return Buffer.byteLength(name) > MAX_IDENTIFIER_BYTES;
}

/** The names of an entity's table, columns, indexes and constraints that are too long. */
export function tooLongNames(entity: EntityMetadata): string[] {
  const parts = [entity.indices, entity.uniques, entity.foreignKeys, entity.checks, entity.exclusions];
  return [
    entity.tableName,
    ...entity.columns.map(({ databaseName }) => databaseName),
    ...parts.flat().map(({ name }) => name),
  ].filter(isTooLong);
}

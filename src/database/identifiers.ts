import type { EntityMetadata } from 'typeorm';

/** PostgreSQL cuts off what is longer, also of the names of indexes and constraints. */
export const MOST_IDENTIFIER_BYTES = 63;

/** Whether PostgreSQL would cut off the end of a name. */
export function isTooLong(name: string): boolean {
  return Buffer.byteLength(name) > MOST_IDENTIFIER_BYTES;
}

/** The names that an entity gives to its table and the parts of it, which are too long. */
export function tooLongNames(entity: EntityMetadata): string[] {
  const parts = [entity.indices, entity.uniques, entity.foreignKeys, entity.checks, entity.exclusions];
  return [
    entity.tableName,
    ...entity.columns.map(({ databaseName }) => databaseName),
    ...parts.flat().map(({ name }) => name),
  ].filter(isTooLong);
}

import type { EntityMetadata, ObjectLiteral } from 'typeorm';
import type { RelationMetadata } from 'typeorm/metadata/RelationMetadata.js';
import { RawSqlResultsToEntityTransformer } from 'typeorm/query-builder/transformer/RawSqlResultsToEntityTransformer.js';
import { int64Transformer } from './int64.js';

interface Hashing {
  extractEntityPrimaryIds(relation: RelationMetadata, data: ObjectLiteral): ObjectLiteral;
  hashEntityIds(relation: RelationMetadata, data: ObjectLiteral): string;
}

// TypeORM's own JSON.stringify() throws on a bigint, at each save() of a row with relations.
(RawSqlResultsToEntityTransformer.prototype as unknown as Hashing).hashEntityIds = function (relation, data) {
  const ids = Object.entries(this.extractEntityPrimaryIds(relation, data));
  return JSON.stringify(ids.map(([name, id]) => [name, String(id)]));
};

/** Gives the columns that TypeORM makes of relations to an int64 what `@Int64Column()` would: it leaves out how they are read. */
export function suitRelations(entities: readonly EntityMetadata[]): void {
  for (const column of entities.flatMap(({ columns }) => columns))
    if (column.isVirtual && column.referencedColumn?.transformer === int64Transformer)
      Object.assign(column, { type: 'bigint', transformer: int64Transformer });
}

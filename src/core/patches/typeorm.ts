import type { ObjectLiteral } from 'typeorm';
import type { RelationMetadata } from 'typeorm/metadata/RelationMetadata.js';
import { RawSqlResultsToEntityTransformer } from 'typeorm/query-builder/transformer/RawSqlResultsToEntityTransformer.js';

interface Transformer {
  readonly rawRelationCountResults: readonly { readonly results: readonly { parentId: unknown }[] }[];
  extractEntityPrimaryIds(relation: RelationMetadata, data: ObjectLiteral): ObjectLiteral;
  hashEntityIds(relation: RelationMetadata, data: ObjectLiteral): string;
  transformRelationCounts: (this: Transformer, rows: readonly ObjectLiteral[], ...of: unknown[]) => boolean;
}

const transformer = RawSqlResultsToEntityTransformer.prototype as unknown as Transformer;

// TypeORM's own JSON.stringify() throws on a bigint, at each save() of a row with relations.
transformer.hashEntityIds = function (relation, data) {
  const ids = Object.entries(this.extractEntityPrimaryIds(relation, data));
  return JSON.stringify(ids.map(([name, id]) => [name, String(id)]));
};

// It compares ids as the driver returns them: an int64 as text, a 32-bit column that refers to one as a number.
const countsOf = transformer.transformRelationCounts;
transformer.transformRelationCounts = function (rows, ...of) {
  if (this.rawRelationCountResults.length === 0) return false;
  for (const count of this.rawRelationCountResults.flatMap(({ results }) => results))
    count.parentId = String(count.parentId);
  const ids = Object.entries(rows[0] ?? {}).map(([name, id]) => [
    name,
    typeof id === 'number' ? String(id) : (id as unknown),
  ]);
  return countsOf.call(this, [Object.fromEntries(ids) as ObjectLiteral], ...of);
};

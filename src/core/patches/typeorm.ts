import { type ObjectLiteral, QueryBuilder } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { RelationMetadata } from 'typeorm/metadata/RelationMetadata.js';
import type { Alias } from 'typeorm/query-builder/Alias.js';
import { RawSqlResultsToEntityTransformer } from 'typeorm/query-builder/transformer/RawSqlResultsToEntityTransformer.js';

interface Transformer {
  readonly rawRelationCountResults: readonly { readonly results: readonly { parentId: unknown }[] }[];
  extractEntityPrimaryIds(relation: RelationMetadata, data: ObjectLiteral): ObjectLiteral;
  hashEntityIds(relation: RelationMetadata, data: ObjectLiteral): string;
  transformRelationCounts: (this: Transformer, rows: readonly ObjectLiteral[], ...of: unknown[]) => boolean;
}

const transformer = RawSqlResultsToEntityTransformer.prototype as unknown as Transformer;

// TypeORM's JSON.stringify() throws for a bigint, at each save() of a row with relations.
transformer.hashEntityIds = function (relation, data) {
  const ids = Object.entries(this.extractEntityPrimaryIds(relation, data));
  return JSON.stringify(ids.map(([name, id]) => [name, String(id)]));
};

// It compares ids as returned by the driver: an int64 as text, a 32-bit column that references one as a number.
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

interface Builder {
  readonly expressionMap: { readonly mainAlias: Alias; readonly aliasNamePrefixingEnabled: boolean };
  createParameter(value: unknown): string;
  getWhereInIdsCondition: (this: Builder, ids: unknown) => string;
}

// If a key has a transformer or several columns, TypeORM compares all columns of a given entity, and null equals nothing. It treats an
// empty list as all rows, and joins ids with OR, of which SQLite refuses 1,000 in a row, also in save().
(QueryBuilder.prototype as unknown as Builder).getWhereInIdsCondition = function (ids) {
  const { metadata, name } = this.expressionMap.mainAlias;
  const prefix = this.expressionMap.aliasNamePrefixingEnabled ? `${name}.` : '';
  const maps = [ids].flat().map((id) => metadata.ensureEntityIdMap(id));
  const parameterOf = (key: ColumnMetadata, map: ObjectLiteral) =>
    this.createParameter(key.getEntityValue(map, true));
  const [key, ...others] = metadata.primaryColumns;
  if (key && others.length === 0 && maps.length > 0)
    return `${prefix}${key.propertyPath} IN (${maps.map((map) => parameterOf(key, map)).join(', ')})`;
  const conditions = maps.map((map) => {
    // Part of a composite key selects all rows that have it.
    const present = metadata.primaryColumns.filter((column) => column.getEntityValue(map) !== undefined);
    return present
      .map((column) => `${prefix}${column.propertyPath} = ${parameterOf(column, map)}`)
      .join(' AND ');
  });
  return anyOf(conditions);
};

function anyOf(conditions: readonly string[]): string {
  if (conditions.length < 2) return conditions[0] || '0=1';
  const half = conditions.length / 2;
  return `(${anyOf(conditions.slice(0, half))} OR ${anyOf(conditions.slice(half))})`;
}

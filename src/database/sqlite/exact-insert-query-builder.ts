import type { EntityMetadata, ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { isInt64 } from '../int64.js';
import { ReturningInsertQueryBuilder, generatedValues } from '../returning-insert-query-builder.js';

/**
 * Reads what an INSERT has stored from itself, by RETURNING. TypeORM computes ids from `last_insert_rowid()`, which an upsert or an
 * ignored row leaves as another INSERT has set it.
 */
export class ExactInsertQueryBuilder<
  Entity extends ObjectLiteral,
> extends ReturningInsertQueryBuilder<Entity> {
  protected override createInsertExpression(): string {
    let sql = super.createInsertExpression();
    const { mainAlias, onUpdate, extraReturningColumns, returning } = this.expressionMap;
    const metadata = mainAlias?.hasMetadata ? mainAlias.metadata : undefined;
    // TypeORM writes these two for PostgreSQL alone.
    if (metadata && onUpdate && sql.includes(' DO UPDATE SET ')) {
      for (const { databaseName, isUpdateDate } of metadata.columns) {
        const name = this.escape(databaseName);
        if (isUpdateDate && !onUpdate.overwrite?.includes(databaseName))
          sql += `, ${name} = EXCLUDED.${name}`;
      }
      const table = this.getTableName(this.getMainTableName());
      if ((onUpdate.overwriteCondition?.length ?? 0) > 0)
        sql = `${sql.replace(`INTO ${table}`, `INTO ${table} AS ${this.escape(this.alias)}`)} WHERE ${this.createUpsertConditionExpression()}`;
    }
    const named = returning === '*' ? (metadata?.columns ?? []) : this.getReturningColumns();
    const columns = [...new Set([...named, ...extraReturningColumns])].map((column) => {
      const name = this.escape(column.databaseName);
      return isText(column) ? `CAST(${name} AS TEXT) AS ${name}` : name;
    });
    if (typeof returning === 'string' && returning !== '*') return `${sql} RETURNING ${returning}`;
    return columns.length === 0 ? sql : `${sql} RETURNING ${columns.join(', ')}`;
  }
}

/** As `generatedValues()`, with numbers where the entity has them: those that the database counts are returned as text. */
export function generatedNumbers(
  metadata: EntityMetadata,
  returned: ObjectLiteral | undefined,
): ObjectLiteral | undefined {
  if (!returned) return undefined;
  const isNumber = (name: string): boolean => {
    const column = metadata.findColumnWithDatabaseName(name);
    return column !== undefined && isText(column) && !isInt64(column);
  };
  const typed = Object.entries(returned).map(([name, value]): [string, unknown] => [
    name,
    isNumber(name) ? Number(value) : value,
  ]);
  return generatedValues(metadata, Object.fromEntries(typed));
}

/** Whether it is returned as text, as PostgreSQL returns an int64. */
function isText(column: ColumnMetadata): boolean {
  return isInt64(column) || column.generationStrategy === 'increment';
}

import type { EntityMetadata, ObjectLiteral } from 'typeorm';
import { isInt64 } from '../int64.js';
import { ReturningInsertQueryBuilder, generatedValues } from '../returning-insert-query-builder.js';
import { exactReturning, isReturnedAsText } from './exact-returning.js';

/** Adds RETURNING to inserts. TypeORM computes ids from `last_insert_rowid()`, which an upsert or an ignored row does not update. */
export class ExactInsertQueryBuilder<
  Entity extends ObjectLiteral,
> extends ReturningInsertQueryBuilder<Entity> {
  protected override createInsertExpression(): string {
    let sql = super.createInsertExpression();
    const { mainAlias, onUpdate, extraReturningColumns } = this.expressionMap;
    const metadata = mainAlias?.hasMetadata ? mainAlias.metadata : undefined;
    // TypeORM generates these two only for PostgreSQL.
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
    const named = [...new Set([...this.getReturningColumns(), ...extraReturningColumns])];
    const columns = exactReturning(this, named);
    return columns === '' ? sql : `${sql} RETURNING ${columns}`;
  }
}

/** As `generatedValues()`; auto-increment ids, which are returned as text, become numbers if the property is one. */
export function generatedNumbers(
  metadata: EntityMetadata,
  returned: ObjectLiteral | undefined,
): ObjectLiteral | undefined {
  if (!returned) return undefined;
  const isNumber = (name: string): boolean => {
    const column = metadata.findColumnWithDatabaseName(name);
    return column !== undefined && isReturnedAsText(column) && !isInt64(column);
  };
  const typed = Object.entries(returned).map(([name, value]): [string, unknown] => [
    name,
    isNumber(name) ? Number(value) : value,
  ]);
  return generatedValues(metadata, Object.fromEntries(typed));
}

import {
  DeleteQueryBuilder,
  type EntityMetadata,
  type ObjectLiteral,
  type QueryBuilder,
  UpdateQueryBuilder,
} from 'typeorm';
import { SoftDeleteQueryBuilder } from 'typeorm/query-builder/SoftDeleteQueryBuilder.js';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { quoted } from '../dialect.js';
import { isInt64 } from '../int64.js';

/** The columns of RETURNING, with int64 columns as text, which sqlite3 does not round. `named` are the listed columns. */
export function exactReturning(
  { expressionMap: { mainAlias, returning } }: Pick<QueryBuilder<ObjectLiteral>, 'expressionMap'>,
  named: readonly ColumnMetadata[],
): string {
  const metadata = mainAlias?.hasMetadata ? mainAlias.metadata : undefined;
  const columns = typeof returning === 'string' ? columnsIn(returning, metadata) : named;
  if (!columns) return String(returning);
  return columns
    .map((column) => {
      const name = quoted(column.databaseName);
      return isReturnedAsText(column) ? `CAST(${name} AS TEXT) AS ${name}` : name;
    })
    .join(', ');
}

/** Whether it is returned as text, as PostgreSQL returns an int64. */
export function isReturnedAsText(column: ColumnMetadata): boolean {
  return isInt64(column) || column.generationStrategy === 'increment';
}

/** The columns of `*`, or of a list of names; undefined for any other SQL. */
function columnsIn(sql: string, metadata: EntityMetadata | undefined): ColumnMetadata[] | undefined {
  const all = metadata?.columns.filter(({ isVirtualProperty }) => !isVirtualProperty);
  if (sql.trim() === '*') return all;
  const names = sql.split(',').map((name) => name.trim().replace(/^"(.*)"$/, '$1'));
  const found = names.flatMap((name) => all?.find(({ databaseName }) => databaseName === name) ?? []);
  return found.length === names.length ? found : undefined;
}

/** Supports RETURNING on SQLite, which TypeORM refuses. */
export class ExactUpdateQueryBuilder<Entity extends ObjectLiteral> extends UpdateQueryBuilder<Entity> {
  override returning(returning: string | string[]): this {
    this.expressionMap.returning = returning;
    return this;
  }

  protected override createReturningExpression(): string {
    return exactReturning(this, this.getReturningColumns());
  }
}

/** Like ExactUpdateQueryBuilder. */
export class ExactDeleteQueryBuilder<Entity extends ObjectLiteral> extends DeleteQueryBuilder<Entity> {
  override returning(returning: string | string[]): this {
    this.expressionMap.returning = returning;
    return this;
  }

  protected override createReturningExpression(): string {
    return exactReturning(this, this.getReturningColumns());
  }
}

/** Like ExactUpdateQueryBuilder. */
export class ExactSoftDeleteQueryBuilder<
  Entity extends ObjectLiteral,
> extends SoftDeleteQueryBuilder<Entity> {
  override returning(returning: string | string[]): this {
    this.expressionMap.returning = returning;
    return this;
  }

  protected override createReturningExpression(): string {
    return exactReturning(this, this.getReturningColumns());
  }
}

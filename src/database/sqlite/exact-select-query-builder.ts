import { SelectQueryBuilder, type EntityMetadata, type ObjectLiteral } from 'typeorm';
import type { SelectQuery } from 'typeorm/query-builder/SelectQuery.js';
import { int64Transformer } from '../int64.js';

/**
 * Reads int64 columns as text on SQLite, where sqlite3 would round them to a double. Conditions, ordering
 * and indexes still see the column itself.
 */
export class ExactSelectQueryBuilder<Entity extends ObjectLiteral> extends SelectQueryBuilder<Entity> {
  protected override buildEscapedEntityColumnSelects(alias: string, metadata: EntityMetadata): SelectQuery[] {
    const selects = super.buildEscapedEntityColumnSelects(alias, metadata);
    if (this.sortsSelectedValues()) return selects;
    const exact = new Set(
      metadata.columns
        .filter((column) => column.transformer === int64Transformer)
        .map((column) => `${this.escape(alias)}.${this.escape(column.databaseName)}`),
    );
    return selects.map((select) =>
      exact.has(select.selection) ? { ...select, selection: `CAST(${select.selection} AS TEXT)` } : select,
    );
  }

  /** Joins with skip or take make TypeORM sort by the selected values, and text would sort otherwise. */
  private sortsSelectedValues(): boolean {
    const { joinAttributes, skip, take } = this.expressionMap;
    return joinAttributes.length > 0 && (skip !== undefined || take !== undefined);
  }
}

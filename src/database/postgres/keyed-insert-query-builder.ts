import { InsertQueryBuilder, type ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';

/** Makes inserts that keep a key which the row brings along; TypeORM drops it where the database would generate one. */
export class KeyedSelectQueryBuilder<Entity extends ObjectLiteral> extends SelectQueryBuilder<Entity> {
  override insert(): InsertQueryBuilder<Entity> {
    return new KeyedInsertQueryBuilder<Entity>(super.insert());
  }
}

class KeyedInsertQueryBuilder<Entity extends ObjectLiteral> extends InsertQueryBuilder<Entity> {
  protected override getInsertedColumns(): ColumnMetadata[] {
    const inserted = super.getInsertedColumns();
    const { mainAlias, insertColumns } = this.expressionMap;
    if (!mainAlias?.hasMetadata || insertColumns.length > 0) return inserted;
    const rows = this.getValueSets();
    const isBrought = (column: ColumnMetadata) =>
      rows.some((row) => ![undefined, null].includes(column.getEntityValue(row)));
    return mainAlias.metadata.columns.filter(
      (column) => inserted.includes(column) || (column.isInsert && column.isGenerated && isBrought(column)),
    );
  }
}

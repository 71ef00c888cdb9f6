import { type ObjectLiteral, type QueryRunner, SelectQueryBuilder } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { Database } from '../database.js';
import { ReturningInsertQueryBuilder } from '../returning-insert-query-builder.js';

/** Builds inserts that keep a key given in the row. TypeORM drops it if the database would generate one. */
export class KeyedSelectQueryBuilder<Entity extends ObjectLiteral> extends SelectQueryBuilder<Entity> {
  /** TypeORM locks rows only with a runner that has started a transaction. This one joins the caller's. */
  protected override obtainQueryRunner(): QueryRunner {
    const runner = super.obtainQueryRunner();
    const { transactions } = this.connection as Database;
    return Object.assign(runner, {
      isTransactionActive: runner.isTransactionActive || transactions.isInside(),
    });
  }

  override insert(): KeyedInsertQueryBuilder<Entity> {
    return new KeyedInsertQueryBuilder<Entity>(super.insert());
  }
}

class KeyedInsertQueryBuilder<Entity extends ObjectLiteral> extends ReturningInsertQueryBuilder<Entity> {
  protected override getInsertedColumns(): ColumnMetadata[] {
    const inserted = super.getInsertedColumns();
    const { mainAlias, insertColumns } = this.expressionMap;
    if (!mainAlias?.hasMetadata || insertColumns.length > 0) return inserted;
    const rows = this.getValueSets();
    const isProvided = (column: ColumnMetadata) =>
      rows.some((row) => ![undefined, null].includes(column.getEntityValue(row)));
    return mainAlias.metadata.columns.filter(
      (column) => inserted.includes(column) || (column.isInsert && column.isGenerated && isProvided(column)),
    );
  }
}

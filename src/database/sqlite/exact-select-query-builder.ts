import {
  type EntityMetadata,
  type ObjectLiteral,
  type OrderByCondition,
  type QueryRunner,
  SelectQueryBuilder,
} from 'typeorm';
import { DriverUtils } from 'typeorm/driver/DriverUtils.js';
import type { SelectQuery } from 'typeorm/query-builder/SelectQuery.js';
import { isInt64 } from '../int64.js';
import { ExactInsertQueryBuilder } from './exact-insert-query-builder.js';
import {
  ExactDeleteQueryBuilder,
  ExactSoftDeleteQueryBuilder,
  ExactUpdateQueryBuilder,
} from './exact-returning.js';

/**
 * Reads int64 columns as text on SQLite, where sqlite3 would round them to a double. Conditions, sorting, indexes, and anything that
 * contains the query, such as a view, still use the column itself, because text sorts differently from numbers. For joins with skip or
 * take, TypeORM runs two statements: the first finds the keys of the rows, sorted by the values that an inner SELECT has selected; the
 * second reads the rows with these keys.
 */
export class ExactSelectQueryBuilder<Entity extends ObjectLiteral> extends SelectQueryBuilder<Entity> {
  private isRead = false;

  override insert(): ExactInsertQueryBuilder<Entity> {
    return new ExactInsertQueryBuilder<Entity>(super.insert());
  }

  override update(...args: unknown[]): ExactUpdateQueryBuilder<Entity> {
    return new ExactUpdateQueryBuilder<Entity>(super.update(...(args as [object])));
  }

  override delete(): ExactDeleteQueryBuilder<Entity> {
    return new ExactDeleteQueryBuilder<Entity>(super.delete());
  }

  override softDelete(): ExactSoftDeleteQueryBuilder<Entity> {
    return new ExactSoftDeleteQueryBuilder<Entity>(super.softDelete());
  }

  override restore(): ExactSoftDeleteQueryBuilder<Entity> {
    return new ExactSoftDeleteQueryBuilder<Entity>(super.restore());
  }

  protected override loadRawResults(queryRunner: QueryRunner): Promise<unknown> {
    this.isRead = true;
    try {
      // TypeORM builds the SQL before it first awaits.
      return super.loadRawResults(queryRunner);
    } finally {
      this.isRead = false;
    }
  }

  protected override buildEscapedEntityColumnSelects(alias: string, metadata: EntityMetadata): SelectQuery[] {
    const selects = super.buildEscapedEntityColumnSelects(alias, metadata);
    if (!this.isRead) return selects;
    const from = this.escape(alias);
    const exact = new Set(
      metadata.columns
        .filter(isInt64)
        .map(({ query, databaseName }) =>
          query ? `(${query(from)})` : `${from}.${this.escape(databaseName)}`,
        ),
    );
    return selects.map((select) =>
      exact.has(select.selection) ? { ...select, selection: `CAST(${select.selection} AS TEXT)` } : select,
    );
  }

  /** Also covers a relation selected by name, as by loadRelationCountAndMap(). */
  protected override createSelectExpression(): string {
    const { selects, aliases } = this.expressionMap;
    const isExact = (selection: string): boolean => {
      const [alias = '', ...path] = selection.split('.');
      const from = aliases.find(({ name }) => name === alias);
      const relation = from?.hasMetadata && from.metadata.findRelationWithPropertyPath(path.join('.'));
      return relation ? relation.joinColumns.length === 1 && relation.joinColumns.every(isInt64) : false;
    };
    if (this.isRead)
      this.expressionMap.selects = selects.map((select) =>
        isExact(select.selection) ? { ...select, selection: `CAST(${select.selection} AS TEXT)` } : select,
      );
    try {
      return super.createSelectExpression();
    } finally {
      this.expressionMap.selects = selects;
    }
  }

  /** TypeORM sorts a column selected by name by the selected expression, which is text here. */
  protected override createOrderByExpression(): string {
    const { selects, orderBys } = this.expressionMap;
    if (!this.isRead) return super.createOrderByExpression();
    const exact = selects.flatMap(({ selection, aliasName }) => {
      const [alias = '', ...path] = selection.split('.');
      const from = this.expressionMap.aliases.find(({ name }) => name === alias);
      const column = from?.hasMetadata && from.metadata.findColumnWithPropertyPath(path.join('.'));
      if (!column || !isInt64(column)) return [];
      const shown =
        aliasName ?? DriverUtils.buildAlias(this.connection.driver, undefined, alias, column.databaseName);
      const ordered = column.query ? `CAST(${this.escape(shown)} AS INTEGER)` : selection;
      return [{ selection, names: [selection, aliasName, aliasName && this.escape(aliasName)], ordered }];
    });
    this.expressionMap.selects = selects.filter((one) =>
      exact.every(({ selection }) => selection !== one.selection),
    );
    this.expressionMap.orderBys = Object.fromEntries(
      Object.entries(orderBys).map(([name, how]) => [
        exact.find(({ names }) => names.includes(name))?.ordered ?? name,
        how,
      ]),
    );
    try {
      return super.createOrderByExpression();
    } finally {
      Object.assign(this.expressionMap, { selects, orderBys });
    }
  }

  /**
   * The first of the two statements selects the keys a second time, as text. If two columns share a name, sqlite3 keeps the last, so
   * TypeORM reads these.
   */
  protected override createOrderByCombinedWithSelectExpression(from: string): [string, OrderByCondition] {
    const [selects, orderBys] = super.createOrderByCombinedWithSelectExpression(from);
    const main = this.expressionMap.mainAlias;
    const keys = main?.hasMetadata ? main.metadata.primaryColumns.filter(isInt64) : [];
    const exact = keys.map(({ databaseName }) => {
      const named = (alias: string) =>
        this.escape(DriverUtils.buildAlias(this.connection.driver, undefined, alias, databaseName));
      const name = main?.name ?? '';
      return `CAST(${this.escape(from)}.${named(name)} AS TEXT) AS ${named(`ids_${name}`)}`;
    });
    return [[...(selects === '' ? [] : [selects]), ...exact].join(', '), orderBys];
  }
}

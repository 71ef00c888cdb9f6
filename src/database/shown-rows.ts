import type { Type } from '@nestjs/common';
import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { declaredMembers } from './declared-members.js';
import type { Dialect } from './dialect.js';
import { int64Transformer } from './int64.js';
import { type PageCondition, pageStatement } from './page-statement.js';
import type { Order } from './selection.js';

/** Types of columns that JSON shows as they are stored. */
const SHOWN_AS_STORED = new Set<unknown>(['integer', 'bigint', 'varchar', 'text']);
const INTEGERS = new Set<unknown>(['integer', 'bigint']);
/** Texts of statements that are kept at most; clients choose among as many as there are ways to filter and sort. */
const MOST_STATEMENTS = 500;

/** The column that a page is ordered by. */
interface OrderColumn {
  readonly name: string;
  readonly isInteger: boolean;
}

/** The statements that read the rows of one entity as one DTO shows them; each is written once. */
export class ShownRows {
  /** The statement of the row with the id `?1`. */
  readonly one: string;
  /** Whether its rows are those of one table, and not of a view of several. */
  readonly isOfOneTable: boolean;
  /** Whether the database gives each new row an id above all that are committed. */
  readonly hasGrowingIds: boolean;
  private readonly table: string;
  private readonly row: string;
  private readonly deletedAt: string | undefined;
  private readonly pages = new Map<string, string>();
  private readonly orders = new Map<string, OrderColumn>();

  /** Throws for a member of the DTO that the entity does not have, or that JSON cannot show as it is stored. */
  constructor(
    private readonly entity: EntityMetadata,
    dto: Type,
    private readonly dialect: Dialect,
  ) {
    this.table = quoted(entity.tableName);
    this.isOfOneTable = entity.tableType === 'regular';
    const [id, ...others] = entity.primaryColumns;
    const isGenerated = id?.generationStrategy === 'increment' && others.length === 0;
    this.hasGrowingIds = this.isOfOneTable && isGenerated && dialect.generatesGrowingIds;
    this.row = this.rowAs(dto);
    const { deleteDateColumn } = entity;
    this.deletedAt = deleteDateColumn && quoted(deleteDateColumn.databaseName);
    const isThere = this.deletedAt === undefined ? '' : ` AND ${this.deletedAt} IS NULL`;
    this.one = `SELECT ${this.row} AS row FROM ${this.table} WHERE id = ?1${isThere}`;
  }

  /** The statement of a page. */
  page(where: readonly PageCondition[], order: Order | undefined, isBehind: boolean): string {
    const orderedBy = this.orderColumn(order)?.name;
    const isDescending = order?.isDescending ?? false;
    let shape = `${orderedBy ?? ''} ${isDescending ? '-' : ''}${isBehind}`;
    for (const { property, comparison, value } of where)
      shape += ` ${property}${comparison}${typeof value === 'object' ? value.length : ''}`;
    let sql = this.pages.get(shape);
    if (sql === undefined) {
      if (this.pages.size >= MOST_STATEMENTS) this.pages.clear();
      const columnOf = (property: string): string => quoted(this.columnOf(property).databaseName);
      const { dialect, table, row, deletedAt } = this;
      sql = pageStatement({
        dialect,
        table,
        row,
        deletedAt,
        columnOf,
        where,
        orderedBy,
        isDescending,
        isBehind,
      });
      this.pages.set(shape, sql);
    }
    return sql;
  }

  /**
   * The column of an order besides the id; undefined when the id alone orders. Throws for a column that may be null: behind
   * null no page can begin.
   */
  orderColumn(order: Order | undefined): OrderColumn | undefined {
    if (!order || order.property === 'id') return undefined;
    let column = this.orders.get(order.property);
    if (!column) {
      const { databaseName, type, isNullable } = this.columnOf(order.property);
      if (isNullable) throw new Error(`A list cannot be ordered by ${order.property}, which may be null.`);
      const isInteger = INTEGERS.has(type);
      const quotedName = quoted(databaseName);
      column = { name: isInteger ? quotedName : this.dialect.ordering(quotedName), isInteger };
      this.orders.set(order.property, column);
    }
    return column;
  }

  /** The expression that makes the JSON object of a row. */
  private rowAs(dto: Type): string {
    const members = declaredMembers(dto);
    if (members.length === 0) throw new Error(`${dto.name} declares no property to show.`);
    const shown = members.map(({ property, name, isAbsentAsNull }) => {
      const column = this.columnOf(property);
      if (!isShownAsStored(column))
        throw new Error(`JSON cannot show ${property} of ${dto.name} as it is stored.`);
      return {
        name,
        column: quoted(column.databaseName),
        isInteger: INTEGERS.has(column.type),
        isAbsentAsNull: isAbsentAsNull && column.isNullable,
      };
    });
    return this.dialect.object(shown);
  }

  /** The column of a property; throws when the entity has none. */
  private columnOf(property: string): ColumnMetadata {
    const { name, columns } = this.entity;
    const column = columns.find(({ propertyName }) => propertyName === property);
    if (!column) throw new Error(`${name} has no column for the property ${property}.`);
    return column;
  }
}

/** Neither hidden from reads, nor changed on the way out. */
function isShownAsStored({ type, isSelect, transformer }: ColumnMetadata): boolean {
  return (
    SHOWN_AS_STORED.has(type) && isSelect && (transformer === undefined || transformer === int64Transformer)
  );
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

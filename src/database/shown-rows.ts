import type { Type } from '@nestjs/common';
import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { declaredMembers } from './declared-members.js';
import { type Dialect, type ShownKind, quoted } from './dialect.js';
import { int64Transformer } from './int64.js';
import { pageStatement } from './page-statement.js';
import type { Order, PageCondition } from './selection.js';

/** Types of columns that JSON shows as they are stored. */
const SHOWN_AS_STORED = new Map<unknown, ShownKind>([
  ['integer', 'integer'],
  ['bigint', 'integer'],
  ['double precision', 'number'],
  ['boolean', 'boolean'],
  [Boolean, 'boolean'],
  ['varchar', 'text'],
  ['text', 'text'],
]);
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
  /** The table whose rows they are; undefined for a view, which may be of several. */
  readonly table: string | undefined;
  /** Whether the database gives each new row an id above all that are committed. */
  readonly hasGrowingIds: boolean;
  private readonly source: string;
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
    this.source = quoted(entity.tableName);
    this.table = entity.tableType === 'regular' ? entity.tableName : undefined;
    const [id, ...others] = entity.primaryColumns;
    const isGenerated = id?.generationStrategy === 'increment' && others.length === 0;
    this.hasGrowingIds = this.table !== undefined && isGenerated && dialect.generatesGrowingIds;
    this.row = this.rowAs(dto);
    const { deleteDateColumn } = entity;
    this.deletedAt = deleteDateColumn && quoted(deleteDateColumn.databaseName);
    const isThere = this.deletedAt === undefined ? '' : ` AND ${this.deletedAt} IS NULL`;
    this.one = `SELECT ${this.row} AS row FROM ${this.source} WHERE id = ?1${isThere}`;
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
      const { dialect, source, row, deletedAt } = this;
      sql = pageStatement({
        dialect,
        table: source,
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
      const isInteger = SHOWN_AS_STORED.get(type) === 'integer';
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
      const kind = shownKind(column);
      if (!kind) throw new Error(`JSON cannot show ${property} of ${dto.name} as it is stored.`);
      return {
        name,
        column: quoted(column.databaseName),
        kind,
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

/** How it is shown; undefined where it is hidden from reads, or changed on the way out. */
function shownKind({ type, isSelect, transformer }: ColumnMetadata): ShownKind | undefined {
  if (!isSelect || (transformer !== undefined && transformer !== int64Transformer)) return undefined;
  return SHOWN_AS_STORED.get(type);
}

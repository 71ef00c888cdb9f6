import type { Type } from '@nestjs/common';
import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { declaredMembers } from './declared-members.js';
import { type Dialect, type JsonKind, literal, quoted, tableOf } from './dialect.js';
import { storesInteger } from './int64.js';
import type { Bindable, Order, PageCondition } from './selection.js';

/** Column types that JSON represents unchanged; classes if TypeORM derived the type from the property. */
const JSON_KINDS = new Map<unknown, JsonKind>([
  ['integer', 'integer'],
  ['int', 'integer'],
  [Number, 'integer'],
  ['bigint', 'integer'],
  ['int8', 'integer'],
  ['double precision', 'number'],
  ['boolean', 'boolean'],
  [Boolean, 'boolean'],
  ['varchar', 'text'],
  ['text', 'text'],
  [String, 'text'],
]);
/** Text, to be skipped, and numbers that databases format differently: with a fraction or exponent, or a negative zero. */
const DOUBLES = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+(?:e[+-]?\d+)?|e[+-]?\d+)|-0(?=[,}\]])/g;
/** Maximum number of cached statements; clients choose filters and sort orders, so there may be many. */
const MAX_STATEMENTS = 500;
/** Maximum number of index searches, one for each combination of list values. Lists that would need more are compared row by row. */
const MAX_SEARCHES = 64;

interface OrderColumn {
  readonly name: string;
  readonly kind: JsonKind;
}

/** Parameters of a page's statement: `from` is the id, followed by the value of the sort column. */
export function pageParameters(
  limit: number,
  from: readonly Bindable[],
  where: readonly PageCondition[],
): (Bindable | null)[] {
  return [limit, ...from, ...where.flatMap(({ value }) => value)];
}

/** The statements that read an entity's rows in the form of a DTO. Each is built once. */
export class RowProjection {
  /** The statement for the row with id `?1`. */
  readonly one: string;
  /** Whether all rows are in one table; a view's rows may be in several. */
  readonly hasSingleTable: boolean;
  /** Whether each new row gets an id greater than all committed ones. */
  readonly hasGrowingIds: boolean;
  private readonly source: string;
  private readonly row: string;
  private hasDoubles = false;
  /** Conditions that exclude soft-deleted rows and those of other entities in the same table (`@ChildEntity()`). */
  private readonly existsConditions: readonly string[];
  private readonly pages = new Map<string, string>();

  /** Throws for a DTO member that the entity lacks or that JSON cannot represent unchanged. */
  constructor(
    private readonly entity: EntityMetadata,
    dto: Type,
    private readonly dialect: Dialect,
  ) {
    this.source = tableOf(entity);
    this.hasSingleTable = entity.tableType === 'regular' && entity.tablePath === entity.tableName;
    const [id, ...others] = entity.primaryColumns;
    const isGenerated = id?.generationStrategy === 'increment' && others.length === 0;
    this.hasGrowingIds = this.hasSingleTable && isGenerated && dialect.hasMonotonicIds;
    this.row = this.rowAs(dto);
    const { deleteDateColumn, discriminatorColumn, tableType } = entity;
    const kinds = [entity, ...entity.childEntityMetadatas].map((one) =>
      literal(one.discriminatorValue ?? ''),
    );
    this.existsConditions = [
      ...(deleteDateColumn ? [`${quoted(deleteDateColumn.databaseName)} IS NULL`] : []),
      ...(discriminatorColumn && tableType === 'entity-child'
        ? [`${quoted(discriminatorColumn.databaseName)} IN (${kinds.join(', ')})`]
        : []),
    ];
    this.one = `SELECT ${this.row} AS row FROM ${this.source} WHERE ${[`id = ${bound('?1', 'integer')}`, ...this.existsConditions].join(' AND ')}`;
  }

  /** Formats the JSON of one or more rows like JSON.stringify(), so that responses to writes and reads have the same entity tag. */
  text(json: unknown): string {
    const text = String(json);
    if (!this.hasDoubles) return text;
    return text.replaceAll(DOUBLES, (token) => (token.startsWith('"') ? token : String(Number(token))));
  }

  /** The statement of a page that starts after a row, or of the first page. */
  page(where: readonly PageCondition[], order: Order | undefined, isContinued: boolean): string {
    const ordering = this.orderColumn(order);
    const orderedBy = ordering?.name;
    const isDescending = order?.isDescending ?? false;
    let shape = `${orderedBy ?? ''} ${isDescending ? '-' : ''}${isContinued}`;
    for (const { property, comparison, value } of where)
      shape += ` ${property}${comparison}${typeof value === 'object' ? value.length : ''}`;
    let sql = this.pages.get(shape);
    if (sql === undefined) {
      if (this.pages.size >= MAX_STATEMENTS) this.pages.clear();
      sql = this.pageStatement(where, ordering, isDescending, isContinued);
      this.pages.set(shape, sql);
    }
    return sql;
  }

  /**
   * The sort column before the id; undefined if only the id sorts. Throws for a nullable column, because a page cannot start after null.
   */
  orderColumn(order: Order | undefined): OrderColumn | undefined {
    if (!order || order.property === 'id') return undefined;
    const column = this.columnOf(order.property);
    const { databaseName, isNullable } = column;
    if (isNullable) throw new Error(`A list cannot be ordered by ${order.property}, which may be null.`);
    const kind = kindOf(column) ?? 'text';
    const name = quoted(databaseName);
    return { name: kind === 'text' ? this.dialect.ordering(name) : name, kind };
  }

  /**
   * Returns a line of JSON for each row of the page and one extra row, which shows that more follow (`rows`, null without rows), and the id
   * (`last`) and sort value (`at`) of the last row of a full page. The rows come from one or more index searches in the order of the page, which the database merges: one for each value of a
   * list, and separate ones for rows with the same sort value as the last row and for those after it (with `(at, id) > (…)`, SQLite would
   * read all rows with that value). Therefore every page costs the same, provided that there is an index on the columns compared for
   * equality, the sort column and the id. The first page has a condition on the id as well; without one, SQLite would scan the table.
   */
  private pageStatement(
    where: readonly PageCondition[],
    ordering: OrderColumn | undefined,
    isDescending: boolean,
    isContinued: boolean,
  ): string {
    const after = isDescending ? '<' : '>';
    const orderedBy = ordering?.name;
    const id = bound('?2', 'integer');
    const at = bound('?3', ordering?.kind);
    const positions =
      orderedBy === undefined
        ? [[`id ${after}= ${id}`]]
        : isContinued
          ? [[`${orderedBy} = ${at}`, `id ${after} ${id}`], [`${orderedBy} ${after} ${at}`]]
          : [[]];
    const selections = this.selections(where, orderedBy === undefined ? 2 : isContinued ? 3 : 1);
    const searches = positions.flatMap((position) =>
      selections.map((selection) => {
        const conditions = [...position, ...selection, ...this.existsConditions].join(' AND ');
        return `SELECT * FROM ${this.source}${conditions === '' ? '' : ` WHERE ${conditions}`}`;
      }),
    );
    const columns = orderedBy === undefined ? ['id'] : [orderedBy, 'id'];
    const order = columns.map((column) => (isDescending ? `${column} DESC` : column)).join(', ');
    const ofLastRow = (column: string) =>
      `(SELECT CAST(${column} AS TEXT) FROM page_rows LIMIT 1 OFFSET ?1 - 1)`;
    return `
      WITH page_rows AS MATERIALIZED (${this.dialect.merged(searches, order, '?1 + 1')})
      SELECT
        (SELECT ${this.dialect.lines(this.row)} FROM page_rows) AS rows,
        ${ofLastRow('id')} AS last${orderedBy === undefined ? '' : `, ${ofLastRow(orderedBy)} AS at`}`;
  }

  /** The conditions of each search: one search for each combination of list values. `before` parameters precede them. */
  private selections(where: readonly PageCondition[], parameterCount: number): string[][] {
    let selections: string[][] = [[]];
    let parameterIndex = parameterCount;
    for (const { property, comparison, isBinary, value } of where) {
      const of = this.columnOf(property);
      const column = quoted(of.databaseName);
      const next = (): string => bound(`?${(parameterIndex += 1)}`, kindOf(of));
      const left = isBinary ? this.dialect.binary(column) : column;
      let conditions: string[];
      if (typeof value !== 'object') conditions = [`${left} ${comparison} ${next()}`];
      else if (selections.length * value.length <= MAX_SEARCHES)
        conditions = value.map(() => `${column} = ${next()}`);
      else conditions = [`${column} IN (${value.map(next).join(', ')})`];
      selections = selections.flatMap((selection) =>
        conditions.map((condition) => [...selection, condition]),
      );
    }
    return selections;
  }

  /** The expression for the JSON object of a row. */
  private rowAs(dto: Type): string {
    const members = declaredMembers(dto);
    if (members.length === 0) throw new Error(`${dto.name} declares no property to show.`);
    const shown = members.map(({ property, name, isOmittedWhenNull }) => {
      const column = this.columnOf(property);
      const kind = jsonKind(column);
      if (!kind) throw new Error(`JSON cannot show ${property} of ${dto.name} as it is stored.`);
      this.hasDoubles ||= kind === 'number';
      return {
        name,
        column: quoted(column.databaseName),
        kind,
        isOmittedWhenNull: isOmittedWhenNull && column.isNullable,
      };
    });
    return this.dialect.object(shown);
  }

  /** The column of a property. Throws if the entity has none. */
  private columnOf(property: string): ColumnMetadata {
    const { name, columns } = this.entity;
    const column = columns.find(({ propertyName }) => propertyName === property);
    if (!column) throw new Error(`${name} has no column for the property ${property}.`);
    return column;
  }
}

/** The JSON representation of a column; undefined if it is hidden from reads or transformed. */
function jsonKind(column: ColumnMetadata): JsonKind | undefined {
  return column.isSelect && (!column.transformer || storesInteger(column)) ? kindOf(column) : undefined;
}

/** The stored type of a column. A view's column has none. */
function kindOf(column: ColumnMetadata): JsonKind | undefined {
  return JSON_KINDS.get(column.type) ?? (storesInteger(column) ? 'integer' : undefined);
}

/** A parameter. An int64 is bound as text, which SQLite does not convert in a comparison with a view's computed column. */
function bound(parameter: string, kind: JsonKind | undefined): string {
  return kind === 'integer' ? `CAST(${parameter} AS bigint)` : parameter;
}

import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { ApiError } from '../core/errors/api-error.js';
import { HTTP_ERRORS } from '../core/errors/http.errors.js';
import { INT64_MAX, INT64_MIN, isInt64 } from './int64.js';
import { type Bindable, type Selection, comparisonsOf } from './selection.js';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** Column types that hold numbers. */
const NUMBERS = new Set<unknown>([Number, 'integer', 'int', 'double precision', 'double', 'float', 'real']);
const UUID = /^[\w-]{1,36}$/;

/** Where a list continues: the last row's values of the sort columns. */
export type Position = readonly string[];

/** Requests a page of a list. */
export interface PageRequest extends Selection {
  readonly limit: number;
  /** The page starts after this row; absent for the first page. */
  readonly after?: Position;
}

/** One page of a list. */
export interface Page<T> {
  readonly items: T[];
  /** The position of the last row, if more rows follow. */
  readonly next?: Position;
  /** The number of rows in the whole list, if it is counted. */
  readonly total?: number;
}

/** A sort column, and the format of its value in a position. */
interface KeysetColumn {
  readonly property: string;
  readonly isValid: (text: string) => boolean;
}

/** Sort by creation time, oldest first. */
export const BY_CREATION: readonly KeysetColumn[] = [
  { property: 'createdAt', isValid: (text) => INSTANT.test(text) },
  { property: 'id', isValid: (text) => UUID.test(text) },
];

/** Sort by an int64 key. */
export const BY_INT64_ID: readonly KeysetColumn[] = [{ property: 'id', isValid: isTextOfInt64 }];

/**
 * A page of a query's rows, sorted by these columns, which together must be unique and indexed; or by the request's order, then by the last
 * of these columns. Its cost does not depend on the number of preceding rows, because it starts at a condition on the columns rather than
 * at an offset. Throws an Error for a query that is already sorted, and validation_failed for a position that no row can have.
 */
export async function keysetPage<T extends ObjectLiteral>(
  query: SelectQueryBuilder<T>,
  { limit, after, where = [], order }: PageRequest,
  by: readonly KeysetColumn[],
  byDirection: 'ASC' | 'DESC' = 'ASC',
): Promise<Page<T>> {
  const direction = order ? (order.isDescending ? 'DESC' : 'ASC') : byDirection;
  const columns = order ? orderedBy(order.property, by) : by;
  for (const [at, { property, comparison, value }] of comparisonsOf(where).entries()) {
    const [column, name] = [`${query.alias}.${property}`, `where_${at}`];
    const condition = typeof value === 'object' ? `IN (:...${name})` : `${comparison} :${name}`;
    const bound = (one: Bindable | null): unknown => boundTo(query, property, one);
    query.andWhere(`${column} ${condition}`, {
      [name]: typeof value === 'object' ? value.map(bound) : bound(value),
    });
  }
  const nameOf = ({ property }: KeysetColumn) => `${query.alias}.${property}`;
  const { selects, orderBys } = query.expressionMap;
  if (!Object.keys(orderBys).every((name) => columns.some((column) => nameOf(column) === name)))
    throw new Error(
      'keysetPage() orders the rows by its columns alone: remove orderBy(), or page by those columns.',
    );
  query.orderBy();
  if (after) {
    if (after.length !== columns.length || !columns.every(({ isValid }, at) => isValid(after[at] ?? '')))
      throw brokenCursor();
    const places = columns.map(({ property }) => `:after_${property}`);
    const [left, right] = [columns.map(nameOf), places].map((row) =>
      row.length === 1 ? row[0] : `(${row.join(', ')})`,
    );
    query.andWhere(
      `${left} ${direction === 'ASC' ? '>' : '<'} ${right}`,
      Object.fromEntries(
        columns.map(({ property }, at) => [`after_${property}`, boundTo(query, property, after[at] ?? null)]),
      ),
    );
  }
  for (const column of columns) {
    query.addOrderBy(nameOf(column), direction);
    const isSelected = selects.some(({ selection }) => [query.alias, nameOf(column)].includes(selection));
    if (!isSelected) query.addSelect(nameOf(column));
  }
  // One extra row shows whether another page follows. In a to-many join, limit() counts joined rows, while take() reads the keys first.
  const limitWithExtra = limit + 1;
  const isMultiplied = query.expressionMap.joinAttributes.some(
    ({ relation }) => !relation || relation.isOneToMany || relation.isManyToMany,
  );
  query.offset(undefined).skip(undefined);
  const rows = await (
    isMultiplied ? query.limit(undefined).take(limitWithExtra) : query.take(undefined).limit(limitWithExtra)
  ).getMany();
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  if (rows.length <= limit || last === undefined) return { items };
  return { items, next: columns.map(({ property }) => String(last[property])) };
}

/** The value of a filter or position in the type of the property: a number is compared as bound with a view's computed column. */
function boundTo<T extends ObjectLiteral>(
  { expressionMap: { mainAlias } }: SelectQueryBuilder<T>,
  property: string,
  value: Bindable | null,
): unknown {
  const column = mainAlias?.hasMetadata ? mainAlias.metadata.findColumnWithPropertyName(property) : undefined;
  if (typeof value !== 'string' || !column) return value;
  if (isInt64(column)) return int64OfPosition([value]);
  if (!NUMBERS.has(column.type)) return value;
  if (value.trim() === '' || Number.isNaN(Number(value))) throw brokenCursor();
  return Number(value);
}

function orderedBy(property: string, by: readonly KeysetColumn[]): KeysetColumn[] {
  const last = by.slice(-1);
  return last[0]?.property === property ? last : [{ property, isValid: () => true }, ...last];
}

/** The int64 of a position. Throws validation_failed for anything else, which only a forged cursor contains. */
export function int64OfPosition([text = '']: Position): bigint {
  if (!isTextOfInt64(text)) throw brokenCursor();
  return BigInt(text);
}

function isTextOfInt64(text: string): boolean {
  if (!/^-?\d{1,19}$/.test(text)) return false;
  const value = BigInt(text);
  return value >= INT64_MIN && value <= INT64_MAX;
}

/** The format of a cursor. */
export const CURSOR_RULE = {
  code: 'broken_cursor',
  message: 'This must be a cursor from this list, with the same filter.',
} as const;

/** The error for a cursor that does not belong to this list. */
export function brokenCursor(): ApiError {
  return new ApiError(HTTP_ERRORS.validation_failed, { details: [{ field: 'cursor', ...CURSOR_RULE }] });
}

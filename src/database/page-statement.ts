import type { Dialect } from './dialect.js';
import type { Bindable, PageCondition } from './selection.js';

/** What the text of a page's statement depends on. Tables, columns and the expression of a row are as they stand in SQL. */
export interface PageShape {
  readonly dialect: Dialect;
  readonly table: string;
  readonly row: string;
  /** The column that tells, when it is not null, that a row is deleted. */
  readonly deletedAt: string | undefined;
  readonly columnOf: (property: string) => string;
  readonly where: readonly PageCondition[];
  /** The column of the order; the id alone without it. */
  readonly orderedBy: string | undefined;
  readonly isDescending: boolean;
  /** Whether the page begins behind a row; one in the order of the id alone always begins with an id. */
  readonly isBehind: boolean;
}

/** Lists whose values are searched for one by one; of further ones the values are compared row by row. */
const MOST_LISTS = 2;

/** What is bound to the statement of a page, in its order: `from` is the id, and behind it the value of the ordering column. */
export function pageParameters(
  limit: number,
  from: readonly Bindable[],
  where: readonly PageCondition[],
): (Bindable | null)[] {
  return [limit, ...from, ...where.flatMap(({ value }) => value)];
}

/**
 * The statement of a page: it answers the rows as one JSON array (`rows`), and the id (`last`) and ordering value (`at`) of the
 * last row when more follow. One row more than the page tells whether another follows.
 *
 * The rows come from one search of an index or several, each in the order of the page, which the database merges: one for each value of
 * a list, and one each for the rows that equal the last row in the ordering value, and for those behind it. So a page costs
 * the same wherever it begins and whatever it selects, as long as there is an index of the columns that are compared for
 * equality, the ordering column and the id. The id has a condition also where the page is the first: without one SQLite
 * would scan the table.
 */
export function pageStatement(shape: PageShape): string {
  const { dialect, table, row, orderedBy, isDescending, deletedAt } = shape;
  const before = orderedBy === undefined ? 2 : shape.isBehind ? 3 : 1;
  const common = deletedAt === undefined ? [] : [`${deletedAt} IS NULL`];
  const selections = selectionsOf(shape, before);
  const searches = positionsOf(shape).flatMap((position) =>
    selections.map((selection) => {
      const conditions = [...position, ...selection, ...common].join(' AND ');
      return `SELECT * FROM ${table}${conditions === '' ? '' : ` WHERE ${conditions}`}`;
    }),
  );
  const columns = orderedBy === undefined ? ['id'] : [orderedBy, 'id'];
  const order = columns.map((column) => (isDescending ? `${column} DESC` : column)).join(', ');
  const rows = dialect.merged(searches, order, '?1 + 1');
  const ofLast = (column: string) =>
    `CASE WHEN count(*) > ?1 THEN CAST(max(${column}) FILTER (WHERE "place in page" = ?1) AS TEXT) END`;
  return `
    SELECT
      ${dialect.array(row, '"place in page"', '"place in page" <= ?1')} AS rows,
      ${ofLast('id')} AS last${orderedBy === undefined ? '' : `, ${ofLast(orderedBy)} AS at`}
    FROM (SELECT *, row_number() OVER () AS "place in page" FROM (${rows}) AS page_rows) AS numbered_rows`;
}

/** The conditions on the order of each search: one for each way in which a row can stand behind another. */
function positionsOf({ orderedBy, isDescending, isBehind }: PageShape): string[][] {
  const comparison = isDescending ? '<' : '>';
  if (orderedBy === undefined) return [[`id ${comparison}= ?2`]];
  if (!isBehind) return [[]];
  return [[`${orderedBy} = ?3`, `id ${comparison} ?2`], [`${orderedBy} ${comparison} ?3`]];
}

/** The conditions on values of each search: one for each combination of the values that lists have. */
function selectionsOf({ dialect, where, columnOf }: PageShape, before: number): string[][] {
  let selections: string[][] = [[]];
  let lists = 0;
  let place = before;
  const next = (): string => `?${(place += 1)}`;
  for (const { property, comparison, isBinary, value } of where) {
    const column = columnOf(property);
    const left = isBinary ? dialect.binary(column) : column;
    let conditions: string[];
    if (typeof value !== 'object') conditions = [`${left} ${comparison} ${next()}`];
    else if (lists++ < MOST_LISTS) conditions = value.map(() => `${column} = ${next()}`);
    else conditions = [`${column} IN (${value.map(next).join(', ')})`];
    selections = selections.flatMap((selection) => conditions.map((condition) => [...selection, condition]));
  }
  return selections;
}

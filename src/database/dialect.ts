/** A member of the JSON object that a row is shown as. */
export interface ShownMember {
  readonly name: string;
  /** As it stands in SQL. */
  readonly column: string;
  readonly isInteger: boolean;
  /** Whether it is left out of the object where the column is null. */
  readonly isAbsentAsNull: boolean;
}

/** What SQL the databases write in different ways. Parameters are `?1`, `?2` in all of them. */
export interface Dialect {
  /** Whether a generated id is above all that are committed, and those that are not yet committed come behind it. */
  readonly generatesGrowingIds: boolean;
  /**
   * A query: a row if inserts into the table `?1` may do more than insert, by a trigger or a conflict that replaces. Undefined where
   * commits of new rows are not told apart.
   */
  readonly insertsDoMore: string | undefined;
  /**
   * A query: how many rows the last INSERT has inserted itself, as `inserted`; 0 for a view. Undefined where an INSERT answers the id of
   * each of its rows; SQLite tells only that of the last.
   */
  readonly insertedCount: string | undefined;
  /** An expression: the JSON object of a row, as text. */
  object(members: readonly ShownMember[]): string;
  /** An expression: the JSON array of the objects of those rows that a condition selects, in this order, as text. */
  array(object: string, order: string, condition: string): string;
  /** A text that is compared and ordered byte by byte, whatever the collation of the column. */
  binary(text: string): string;
  /** A text column that lists are ordered by: on both databases by bytes, unless SQLite's column says otherwise. */
  ordering(column: string): string;
  /** A query: the first rows, in this order, of several queries, each of which an index answers in this order. */
  merged(queries: readonly string[], order: string, limit: string): string;
}

/** SQLite's own JSON functions; it merges the parts of a UNION ALL row by row. */
export const SQLITE_DIALECT: Dialect = {
  // One writes at a time.
  generatesGrowingIds: true,
  insertsDoMore: `SELECT 1 FROM (SELECT * FROM sqlite_master UNION ALL SELECT * FROM sqlite_temp_master)
    WHERE lower(tbl_name) = lower(?1) AND (type = 'trigger' OR sql LIKE '%CONFLICT%') LIMIT 1`,
  insertedCount: 'SELECT changes() AS inserted',
  object(members) {
    const all = `json_object(${members.map(({ name, column }) => `${literal(name)}, ${column}`).join(', ')})`;
    // An index of an object removes nothing.
    const absent = members
      .filter(({ isAbsentAsNull }) => isAbsentAsNull)
      .map(({ name, column }) => `iif(${column} IS NULL, ${literal(`$.${JSON.stringify(name)}`)}, '$[0]')`);
    return absent.length === 0 ? all : `json_remove(${[all, ...absent].join(', ')})`;
  },
  array: (object, order, condition) =>
    `json_group_array(${object} ORDER BY ${order}) FILTER (WHERE ${condition})`,
  binary: (text) => `${text} COLLATE BINARY`,
  ordering: (column) => column,
  merged: (queries, order, limit) => `${queries.join(' UNION ALL ')} ORDER BY ${order} LIMIT ${limit}`,
};

/**
 * PostgreSQL's json_build_object() writes other white space than SQLite; joined text is the same byte for byte, and faster. Each
 * part of a UNION ALL is limited by itself, so that it reads no more of its index than a page.
 */
export const POSTGRES_DIALECT: Dialect = {
  // Of two transactions at the same time the one with the higher id may commit first.
  generatesGrowingIds: false,
  insertsDoMore: undefined,
  insertedCount: undefined,
  object(members) {
    const isOpened = members[0]?.isAbsentAsNull !== true;
    const shown = members.map(({ name, column, isInteger, isAbsentAsNull }, at) => {
      const value = isInteger ? `${column}::text` : `to_json(${column})::text`;
      const named = literal(`${at === 0 && isOpened ? '{' : ','}${JSON.stringify(name)}:`);
      return isAbsentAsNull ? `coalesce(${named} || ${value}, '')` : `${named} || coalesce(${value}, 'null')`;
    });
    const joined = shown.join(' || ');
    return isOpened ? `(${joined} || '}')` : `('{' || substr(${joined}, 2) || '}')`;
  },
  array: (object, order, condition) =>
    `'[' || coalesce(string_agg(${object}, ',' ORDER BY ${order}) FILTER (WHERE ${condition}), '') || ']'`,
  binary: (text) => `${text} COLLATE "C"`,
  ordering: (column) => `${column} COLLATE "C"`,
  merged(queries, order, limit) {
    const ordered = `ORDER BY ${order} LIMIT ${limit}`;
    if (queries.length === 1) return `${queries.join('')} ${ordered}`;
    return `SELECT * FROM (${queries.map((query) => `(${query} ${ordered})`).join(' UNION ALL ')}) AS merged_rows ${ordered}`;
  },
};

function literal(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

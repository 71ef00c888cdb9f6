/** How a database writes a column as JSON. */
export type ShownKind = 'integer' | 'number' | 'boolean' | 'text';

/** A member of the JSON object that a row is shown as. */
export interface ShownMember {
  readonly name: string;
  /** As written in SQL. */
  readonly column: string;
  readonly kind: ShownKind;
  /** Whether it is left out of the object where the column is null. */
  readonly isAbsentAsNull: boolean;
}

/** SQL that differs between the databases. Parameters are `?1`, `?2`, in what PostgreSQL alone has `$1`. */
export interface Dialect {
  /** Whether a generated id is above all that are committed, and those that are not yet committed come after it. */
  readonly generatesGrowingIds: boolean;
  /**
   * A query: a row if inserts into the table `?1` may do more than insert, by a trigger or a conflict that replaces. Undefined where
   * commits of new rows are not distinguished.
   */
  readonly insertsDoMore: string | undefined;
  /**
   * Queries that lock the name `$1` until the transaction ends: `wait` until no other has the lock, `ask` returns in `locked` whether it
   * was free. Undefined where the one writer has locked everything.
   */
  readonly locks: { readonly wait: string; readonly ask: string } | undefined;
  /** An INSERT of the rows in `?1`, a JSON array of objects with these columns, that returns the id of each, on SQLite as text. */
  insertOfJson(table: string, columns: readonly string[], id: string): string;
  /** In FROM: a row for each element of a JSON array, with the element in its column `value`. */
  elements(json: string): string;
  /** Ends a query: the selected rows of this table cannot be deleted until the transaction ends. */
  kept(table: string): string;
  /** An expression: the JSON object of a row, as text. */
  object(members: readonly ShownMember[]): string;
  /** An expression: the JSON array of the objects of those rows that a condition selects, in this order, as text. */
  array(object: string, order: string, condition: string): string;
  /** A text that is compared and ordered byte by byte, whatever the collation of the column. */
  binary(text: string): string;
  /** A text column that lists are ordered by: on both databases by bytes, unless SQLite's column says otherwise. */
  ordering(column: string): string;
  /** A query: the first rows, in this order, of several queries, each of which is read from an index in this order. */
  merged(queries: readonly string[], order: string, limit: string): string;
}

/** SQLite's own JSON functions; it merges the parts of a UNION ALL row by row. */
export const SQLITE_DIALECT: Dialect = {
  // One writes at a time.
  generatesGrowingIds: true,
  insertsDoMore: `SELECT 1 FROM (SELECT * FROM sqlite_master UNION ALL SELECT * FROM sqlite_temp_master)
    WHERE lower(tbl_name) = lower(?1) AND (type = 'trigger' OR sql LIKE '%CONFLICT%') LIMIT 1`,
  locks: undefined,
  // TypeORM's runner reads no rows of a statement that begins with INSERT.
  insertOfJson: (table, columns, id) =>
    `WITH batch AS (SELECT key, value FROM json_each(?1)) INSERT INTO ${quoted(table)} (${columns.map(quoted).join(', ')}) ` +
    `SELECT ${columns.map((column) => `value ->> ${literal(column)}`).join(', ')} FROM batch ORDER BY key ` +
    `RETURNING CAST(${quoted(id)} AS TEXT) AS ${quoted(id)}`,
  elements: (json) => `json_each(${json})`,
  kept: () => '',
  object(members) {
    const all = `json_object(${members.map((member) => `${literal(member.name)}, ${sqliteValue(member)}`).join(', ')})`;
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
  // Other programs on the same database hardly have the same 64-bit number.
  locks: {
    wait: `SELECT pg_advisory_xact_lock(hashtextextended('petstore ' || $1, 0))`,
    ask: `SELECT pg_try_advisory_xact_lock(hashtextextended('petstore ' || $1, 0)) AS locked`,
  },
  // A row of the table, which is null, shows the types: by its name PostgreSQL's own type would be meant, such as `line`.
  insertOfJson: (table, columns, id) =>
    `INSERT INTO ${quoted(table)} (${columns.map(quoted).join(', ')}) SELECT ${columns.map(quoted).join(', ')} ` +
    `FROM json_populate_recordset((SELECT "no row" FROM ${quoted(table)} AS "no row" LIMIT 0), $1) RETURNING ${quoted(id)}`,
  elements: (json) => `json_array_elements(${json})`,
  kept: (table) => `FOR KEY SHARE OF ${table}`,
  object(members) {
    const isOpened = members[0]?.isAbsentAsNull !== true;
    const shown = members.map(({ name, column, kind, isAbsentAsNull }, at) => {
      const value = kind === 'integer' ? `${column}::text` : `to_json(${column})::text`;
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

/** SQLite has no booleans, and writes a double with 15 digits, although some need 17. */
function sqliteValue({ column, kind }: ShownMember): string {
  if (kind === 'boolean') return `json(CASE ${column} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END)`;
  return kind === 'number'
    ? `json(CASE WHEN ${column} IS NOT NULL THEN printf('%!.17g', ${column}) END)`
    : column;
}

/** Quoted texts and names, which are left as they are, and parameters. */
const PARAMETERS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\?(\d+)/g;

/** A statement with its parameters `?1`, `?2` written in another way. */
export function withParameters(sql: string, written: (place: number) => string): string {
  return sql.replaceAll(PARAMETERS, (text, place?: string) =>
    place === undefined ? text : written(Number(place)),
  );
}

/** A name as SQLite and PostgreSQL take it. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The table of an entity, with its schema where it has one, as SQLite and PostgreSQL take it. */
export function tableOf({ tablePath }: { readonly tablePath: string }): string {
  return tablePath.split('.').map(quoted).join('.');
}

/** A text as SQLite and PostgreSQL take it. */
export function literal(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

/** The JSON representation of a column. */
export type JsonKind = 'integer' | 'number' | 'boolean' | 'text';

/** A member of the JSON object of a row. */
export interface JsonMember {
  readonly name: string;
  /** Quoted for SQL. */
  readonly column: string;
  readonly kind: JsonKind;
  /** Whether the member is omitted if the column is null. */
  readonly isOmittedWhenNull: boolean;
}

/** Inserts in a single statement, which commits on its own. */
export interface PlainInserts {
  /** A query for the `definition` of the table `?1`, without a row if the table is not plain. Undefined if none is needed. */
  readonly definition: string | undefined;
  /**
   * `insertFromJson` that, on SQLite, inserts nothing unless the definition is still `?2` and the ids will increase, and that, on PostgreSQL,
   * fails if a row is missing.
   */
  insertFromJson(table: string, columns: readonly string[], id: string): string;
}

/** The error of an insert whose rows cannot be matched with the ids that the database returned. */
export const ROW_LOST =
  'The database returned no id for an inserted row: a trigger or ON CONFLICT has dropped or redirected it.';

/** SQL that differs between the databases. Parameters are `?1`, `?2`; in SQL for PostgreSQL alone, `$1`. */
export interface Dialect {
  /** Whether TypeORM writes DEFAULT for a value that is undefined. On SQLite, which has no such keyword, it writes NULL. */
  readonly hasDefaultKeyword: boolean;
  /** Whether generated ids increase in the order of commits. */
  readonly hasMonotonicIds: boolean;
  /**
   * Inserts that commit on their own. On SQLite, they must not affect other rows, so the table must be plain: without triggers and conflict
   * clauses. On PostgreSQL, any table will do, because the DataVersion does not distinguish inserts from other changes.
   */
  readonly plainInserts: PlainInserts;
  /**
   * Queries that lock the name `$1` until the transaction ends: `lock` waits, `tryLock` returns `locked`. Undefined on SQLite, where the
   * single writer needs no locks.
   */
  readonly locks: { readonly lock: string; readonly tryLock: string } | undefined;
  /** An INSERT of the rows in `?1`, a JSON array of objects with these columns, that returns the id of each, as text on SQLite. */
  insertFromJson(table: string, columns: readonly string[], id: string): string;
  /** An item for FROM with a row for each element of a JSON array, in its column `value`. */
  elements(json: string): string;
  /** A clause at the end of a query that protects the selected rows of this table against deletion until the transaction ends. */
  lockRows(table: string): string;
  /** An expression for the JSON object of a row, as text. */
  object(members: readonly JsonMember[]): string;
  /** An aggregate of JSON objects, one per line, in the order of the rows. The JSON of an object contains no line break. */
  lines(object: string): string;
  /** A text expression that is compared byte by byte, whatever the collation of the column. */
  binary(text: string): string;
  /** A text column as a sort key: ordered by bytes on PostgreSQL, by the column's collation on SQLite. */
  ordering(column: string): string;
  /** A query for the first rows of several queries in this order, each of which reads an index in this order. */
  merged(queries: readonly string[], order: string, limit: string): string;
}

/** SQLite has JSON functions and merges the parts of a UNION ALL row by row. */
export const SQLITE_DIALECT: Dialect = {
  hasDefaultKeyword: false,
  // There is one writer at a time.
  hasMonotonicIds: true,
  plainInserts: {
    definition: plainDefinition('?1'),
    insertFromJson: (table, columns, id) =>
      insertOnSqlite(
        table,
        columns,
        id,
        `WHERE ?2 = (${plainDefinition(literal(table))}) AND (SELECT coalesce(max(${quoted(id)}), 0) FROM ${quoted(table)}) < ${LAST_GROWING_ID}`,
      ),
  },
  locks: undefined,
  insertFromJson: insertOnSqlite,
  elements: (json) => `json_each(${json})`,
  lockRows: () => '',
  object(members) {
    const all = `json_object(${members.map((member) => `${literal(member.name)}, ${sqliteValue(member)}`).join(', ')})`;
    // The path `$[0]`, the index of an array, removes nothing from an object.
    const absent = members
      .filter(({ isOmittedWhenNull }) => isOmittedWhenNull)
      .map(({ name, column }) => `iif(${column} IS NULL, ${literal(`$.${JSON.stringify(name)}`)}, '$[0]')`);
    return absent.length === 0 ? all : `json_remove(${[all, ...absent].join(', ')})`;
  },
  lines: (object) => `group_concat(${object}, char(10))`,
  binary: (text) => `${text} COLLATE BINARY`,
  ordering: (column) => column,
  merged: (queries, order, limit) => `${queries.join(' UNION ALL ')} ORDER BY ${order} LIMIT ${limit}`,
};

/**
 * json_build_object() of PostgreSQL writes other white space than SQLite; concatenated text is identical byte for byte, and faster. Each
 * part of a UNION ALL is limited separately, so that it reads no more of its index than a page.
 */
export const POSTGRES_DIALECT: Dialect = {
  hasDefaultKeyword: true,
  // Of two concurrent transactions, the one with the higher id may commit first.
  hasMonotonicIds: false,
  plainInserts: { definition: undefined, insertFromJson: insertCountedOnPostgres },
  // Another program in the same database is unlikely to use the same 64-bit number.
  locks: {
    lock: `SELECT pg_advisory_xact_lock(hashtextextended('petstore ' || $1, 0))`,
    tryLock: `SELECT pg_try_advisory_xact_lock(hashtextextended('petstore ' || $1, 0)) AS locked`,
  },
  insertFromJson: insertOnPostgres,
  elements: (json) => `json_array_elements(${json})`,
  lockRows: (table) => `FOR KEY SHARE OF ${table}`,
  object(members) {
    const hasBrace = members[0]?.isOmittedWhenNull !== true;
    const parts = members.map(({ name, column, kind, isOmittedWhenNull }, at) => {
      const value = kind === 'integer' ? `${column}::text` : `to_json(${column})::text`;
      const named = literal(`${at === 0 && hasBrace ? '{' : ','}${JSON.stringify(name)}:`);
      return isOmittedWhenNull
        ? `coalesce(${named} || ${value}, '')`
        : `${named} || coalesce(${value}, 'null')`;
    });
    const joined = parts.join(' || ');
    return hasBrace ? `(${joined} || '}')` : `('{' || substr(${joined}, 2) || '}')`;
  },
  lines: (object) => `string_agg(${object}, chr(10))`,
  binary: (text) => `${text} COLLATE "C"`,
  ordering: (column) => `${column} COLLATE "C"`,
  merged(queries, order, limit) {
    const ordered = `ORDER BY ${order} LIMIT ${limit}`;
    if (queries.length === 1) return `${queries.join('')} ${ordered}`;
    return `SELECT * FROM (${queries.map((query) => `(${query} ${ordered})`).join(' UNION ALL ')}) AS merged_rows ${ordered}`;
  },
};

/** SQLite has no booleans, and writes a double with 15 digits, although some need 17. */
function sqliteValue({ column, kind }: JsonMember): string {
  if (kind === 'boolean') return `json(CASE ${column} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END)`;
  return kind === 'number'
    ? `json(CASE WHEN ${column} IS NOT NULL THEN printf('%!.17g', ${column}) END)`
    : column;
}

/** Quoted text and names, which stay unchanged, and parameters. */
const PARAMETERS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\?(\d+)/g;

/** A statement with its parameters `?1`, `?2` written in another way. */
export function withParameters(sql: string, placeholder: (index: number) => string): string {
  return sql.replaceAll(PARAMETERS, (text, index?: string) =>
    index === undefined ? text : placeholder(Number(index)),
  );
}

/** After the largest id, SQLite assigns unused ids at random. */
const LAST_GROWING_ID = (2n ** 63n - 1_000n).toString();

/** A query for the definition of a table, without a row if the table has a trigger or a conflict clause. */
function plainDefinition(table: string): string {
  const objects = `SELECT 1 FROM (SELECT * FROM sqlite_master UNION ALL SELECT * FROM sqlite_temp_master)
    WHERE lower(tbl_name) = lower(${table}) AND (type = 'trigger' OR sql LIKE '%CONFLICT%')`;
  return `SELECT sql AS definition FROM sqlite_master
    WHERE type = 'table' AND lower(name) = lower(${table}) AND NOT EXISTS (${objects})`;
}

/** For a statement that starts with INSERT, TypeORM's runner would return no rows. */
function insertOnSqlite(table: string, columns: readonly string[], id: string, condition = ''): string {
  return (
    `WITH batch AS (SELECT key, value FROM json_each(?1)) INSERT INTO ${quoted(table)} (${columns.map(quoted).join(', ')}) ` +
    `SELECT ${columns.map((column) => `value ->> ${literal(column)}`).join(', ')} FROM batch ${condition} ORDER BY key ` +
    `RETURNING CAST(${quoted(id)} AS TEXT) AS ${quoted(id)}`
  );
}

/** A null row of the table provides the types. Its name alone could denote a built-in type, such as `line`. */
function insertOnPostgres(table: string, columns: readonly string[], id: string): string {
  const names = columns.map(quoted).join(', ');
  return (
    `INSERT INTO ${quoted(table)} (${names}) SELECT ${names} ` +
    `FROM json_populate_recordset((SELECT "no row" FROM ${quoted(table)} AS "no row" LIMIT 0), $1) RETURNING ${quoted(id)}`
  );
}

/**
 * Counts the inserted rows in the same statement, so that it needs no transaction around it. The text that cannot be cast contains the
 * count, because PostgreSQL would evaluate a constant when it plans the statement. The outer join reads the count even if all rows are
 * missing.
 */
function insertCountedOnPostgres(table: string, columns: readonly string[], id: string): string {
  return (
    `WITH inserted AS (${insertOnPostgres(table, columns, id)}), ` +
    `counted AS (SELECT CASE WHEN count(${quoted(id)}) <> json_array_length($1) ` +
    `THEN CAST(${literal(`${ROW_LOST} Rows: `)} || count(*) AS integer) END AS missing FROM inserted) ` +
    `SELECT inserted.${quoted(id)} FROM counted LEFT JOIN inserted ON true WHERE counted.missing IS NULL`
  );
}

/** A quoted identifier. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The quoted table of an entity, with its schema if it has one. */
export function tableOf({ tablePath }: { readonly tablePath: string }): string {
  return tablePath.split('.').map(quoted).join('.');
}

/** A quoted string. */
export function literal(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

/**
 * The condition that a column contains a text, ignoring the case of the letters A to Z, and its parameters. No character of the text
 * has a special meaning.
 */
export function containing(column: string, text: string): [condition: string, parameters: { holds: string }] {
  const holds = `%${text.replaceAll(/[!%_]/g, '!$&')}%`;
  return [`LOWER(${column}) LIKE LOWER(:holds) ESCAPE '!'`, { holds }];
}

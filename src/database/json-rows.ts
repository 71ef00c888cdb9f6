import { Injectable } from '@nestjs/common';
import { DataSource, type EntityTarget, type ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { INT64_MIN, int64Transformer } from './int64.js';
import { JsonReader } from './json-reader.js';
import { JsonText } from './json-text.js';
import { int64OfPosition, type PageRequest, type Position } from './page.js';

/** Types of columns that JSON shows as they are stored. */
const SHOWN_AS_STORED = new Set<unknown>(['integer', 'bigint', 'varchar', 'text']);

/** A page of rows as the JSON array that it is answered as. */
export interface JsonPage {
  readonly items: JsonText;
  /** The last row's position when more rows follow. */
  readonly next?: Position;
}

/**
 * Rows as the JSON text that they are answered as: one statement, one text, and no entity made of any row. Members are the
 * properties of the entity, in their order. For entities whose answers show every column as it is stored; the key is an
 * int64 `id`.
 */
@Injectable()
export class JsonRows {
  private readonly statements = new Map<string, string>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly reader: JsonReader,
  ) {}

  /** The row with this id; undefined when there is none. */
  async one(entity: EntityTarget<ObjectLiteral>, id: bigint): Promise<JsonText | undefined> {
    const sql = this.statement(
      entity,
      'one',
      (table, row) => `SELECT ${row} AS row FROM ${table} WHERE id = ?1`,
    );
    const found = await this.reader.first(sql, [String(id)]);
    return found && new JsonText(String(found['row']));
  }

  /** A page by id of the rows whose properties have these values. Its cost does not depend on how many come before. */
  async page(
    entity: EntityTarget<ObjectLiteral>,
    { limit, after }: PageRequest,
    equal: Readonly<Record<string, string>> = {},
  ): Promise<JsonPage> {
    const filters = Object.keys(equal);
    const sql = this.statement(entity, `page ${filters.join()}`, (table, row) => {
      const columns = filters.map((property) => this.columnOf(entity, property));
      return page(table, row, columns);
    });
    const from = after ? int64OfPosition(after) : INT64_MIN;
    const found = await this.reader.first(sql, [limit, String(from), ...Object.values(equal)]);
    const items = new JsonText(String(found?.['rows']));
    const last = found?.['last'];
    return typeof last === 'string' ? { items, next: [String(BigInt(last) + 1n)] } : { items };
  }

  private statement(
    entity: EntityTarget<ObjectLiteral>,
    kind: string,
    write: (table: string, row: string) => string,
  ): string {
    const { tableName, columns } = this.dataSource.getMetadata(entity);
    const name = `${tableName} ${kind}`;
    const known = this.statements.get(name);
    if (known !== undefined) return known;
    const unshown = columns.find((column) => !isShownAsStored(column));
    if (unshown) throw new Error(`JSON cannot show ${tableName}.${unshown.propertyName} as it is stored.`);
    const members = columns.map(
      ({ propertyName, databaseName }) => `'${propertyName}', ${quoted(databaseName)}`,
    );
    const sql = write(quoted(tableName), `json_object(${members.join(', ')})`);
    this.statements.set(name, sql);
    return sql;
  }

  private columnOf(entity: EntityTarget<ObjectLiteral>, property: string): string {
    const { name, columns } = this.dataSource.getMetadata(entity);
    const column = columns.find(({ propertyName }) => propertyName === property);
    if (!column) throw new Error(`${name} has no property ${property} to filter by.`);
    return quoted(column.databaseName);
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

/**
 * One row more than the page tells whether another follows. The key has a condition also where the page is the first:
 * without one SQLite would scan the table.
 */
function page(table: string, row: string, columns: readonly string[]): string {
  const conditions = ['id >= ?2', ...columns.map((column, index) => `${column} = ?${index + 3}`)].join(
    ' AND ',
  );
  const rows = `SELECT * FROM ${table} WHERE ${conditions} ORDER BY id LIMIT ?1 + 1`;
  return `
    SELECT
      json_group_array(${row} ORDER BY "place in page") FILTER (WHERE "place in page" <= ?1) AS rows,
      CASE WHEN count(*) > ?1 THEN CAST(max(id) FILTER (WHERE "place in page" = ?1) AS TEXT) END AS last
    FROM (SELECT *, row_number() OVER () AS "place in page" FROM (${rows}))`;
}

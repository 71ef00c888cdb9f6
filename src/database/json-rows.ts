import { Injectable, type Type } from '@nestjs/common';
import { parse } from 'lossless-json';
import { DataSource } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { declaredMembers } from './declared-members.js';
import { INT64_MIN, int64Transformer } from './int64.js';
import { JsonReader } from './database.js';
import { type PageRequest, type Position, int64OfPosition } from './keyset-page.js';

/** JSON that is answered as it stands, because the database has written it: what a DTO shows, or an array of that. */
export class JsonText<Shown = unknown> {
  /** For the compiler alone: text of one DTO is not taken for that of another. */
  declare protected readonly shown: Shown;

  constructor(readonly text: string) {}

  /** The value, with every number exact, for a caller that embeds it in a larger answer. */
  toJSON(): unknown {
    return parse(this.text);
  }
}

/** An entity with all the properties that a DTO shows. */
type Shows<Dto> = Required<Dto> & { readonly id: bigint };

/** Values that properties of an entity must have. */
type Filter<Entity> = { readonly [Property in keyof Entity]?: Entity[Property] & string };

/** Types of columns that JSON shows as they are stored. */
const SHOWN_AS_STORED = new Set<unknown>(['integer', 'bigint', 'varchar', 'text']);

/** A page of rows as the JSON array that it is answered as. */
export interface JsonPage<Dto> {
  readonly items: JsonText<Dto[]>;
  /** The last row's position when more rows follow. */
  readonly next?: Position;
}

/**
 * Rows as the JSON text that they are answered as: one statement, one text, and no entity made of any row. Members are those
 * that the answer's DTO declares, in its order; each must be a property of the entity whose column is shown as it is stored.
 * The entity's key is an int64 `id`. The compiler checks what it can see of this: the names and types of properties.
 */
@Injectable()
export class JsonRows {
  private readonly statements = new WeakMap<Type, Map<string, string>>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly reader: JsonReader,
  ) {}

  /** The row with this id, as the DTO shows it; undefined when there is none. */
  async one<Dto extends object, Entity extends Shows<Dto>>(
    entity: Type<Entity>,
    dto: Type<Dto>,
    id: bigint,
  ): Promise<JsonText<Dto> | undefined> {
    const sql = this.statement(
      entity,
      dto,
      'one',
      (table, row) => `SELECT ${row} AS row FROM ${table} WHERE id = ?1`,
    );
    const found = await this.reader.first(sql, [String(id)]);
    return found && new JsonText(String(found['row']));
  }

  /**
   * A page by id of the rows whose properties have these values, as the DTO shows them; a value that is undefined filters
   * nothing. The cost of a page does not depend on how many rows come before it.
   */
  async page<Dto extends object, Entity extends Shows<Dto>>(
    entity: Type<Entity>,
    dto: Type<Dto>,
    { limit, after }: PageRequest,
    equal: Filter<NoInfer<Entity>> = {},
  ): Promise<JsonPage<Dto>> {
    const values = Object.entries(equal).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const filters = values.map(([property]) => property);
    const sql = this.statement(entity, dto, `page ${filters.join()}`, (table, row) => {
      const columns = filters.map((property) => quoted(this.columnOf(entity, property).databaseName));
      return page(table, row, columns);
    });
    const from = after ? int64OfPosition(after) : INT64_MIN;
    const found = await this.reader.first(sql, [limit, String(from), ...values.map(([, value]) => value)]);
    const items = new JsonText<Dto[]>(String(found?.['rows']));
    const last = found?.['last'];
    return typeof last === 'string' ? { items, next: [String(BigInt(last) + 1n)] } : { items };
  }

  private statement(
    entity: Type,
    dto: Type,
    kind: string,
    write: (table: string, row: string) => string,
  ): string {
    const { tableName } = this.dataSource.getMetadata(entity);
    const name = `${tableName} ${kind}`;
    let ofDto = this.statements.get(dto);
    if (!ofDto) this.statements.set(dto, (ofDto = new Map()));
    let sql = ofDto.get(name);
    if (sql === undefined) ofDto.set(name, (sql = write(quoted(tableName), this.row(entity, dto))));
    return sql;
  }

  /** The expression that makes the JSON object of a row. */
  private row(entity: Type, dto: Type): string {
    const members = declaredMembers(dto);
    if (members.length === 0) throw new Error(`${dto.name} declares no property to show.`);
    const shown = members.map(({ property, name }) => {
      const column = this.columnOf(entity, property);
      if (!isShownAsStored(column))
        throw new Error(`JSON cannot show ${property} of ${dto.name} as it is stored.`);
      return `${literal(name)}, ${quoted(column.databaseName)}`;
    });
    return `json_object(${shown.join(', ')})`;
  }

  /** The column of a property; throws when the entity has none. */
  private columnOf(entity: Type, property: string): ColumnMetadata {
    const { name, columns } = this.dataSource.getMetadata(entity);
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

function literal(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
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

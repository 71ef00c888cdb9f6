import { Injectable, type Type } from '@nestjs/common';
import { parse } from 'lossless-json';
import { DataSource } from 'typeorm';
import { Untransformed } from '../core/patches/untransformed.js';
import { type Database, JsonReader } from './database.js';
import { INT64_MAX, INT64_MIN } from './int64.js';
import type { JsonKind } from './dialect.js';
import { type PageRequest, type Position, brokenCursor, int64OfPosition } from './keyset-page.js';
import { type Bindable, type PageCondition, comparisonsOf } from './selection.js';
import { ShownRows, pageParameters } from './shown-rows.js';

/** JSON text from the database, sent unchanged: an object of a DTO, or an array of them. */
export class JsonText<Shown = unknown> extends Untransformed {
  /** For the compiler alone, so that the text of one DTO is not assignable to that of another. */
  declare protected readonly shown: Shown;
  /** The entity tag of the text with the `Link` that is sent with it; kept when it is first sent. */
  tag: { readonly link: string; readonly value: string } | undefined;

  constructor(
    readonly text: string,
    /** Whether rows that are inserted, with ids that the database generates, change nothing of it. */
    readonly survivesInserts = false,
    /** The DTO whose members the text contains, and no others; undefined if that was not verified. */
    readonly dto?: Type,
  ) {
    super();
  }

  /** The value, with every number exact, for a caller that embeds it in a larger response. */
  toJSON(): unknown {
    return parse(this.text);
  }
}

/** An entity with all the properties that a DTO shows. */
type Shows<Dto> = Required<Dto> & { readonly id: bigint | number };

/** Values that properties of an entity must have. */
type Filter<Entity> = { readonly [Property in keyof Entity]?: Entity[Property] & string };

/** A page of rows as a JSON array. */
export interface JsonPage<Dto> {
  readonly items: JsonText<Dto[]>;
  /** The last row's position when more rows follow. */
  readonly next?: Position;
}

/**
 * Reads rows as the JSON text of a response: one statement, one text, no entities. Members are those
 * that the response's DTO declares, in its order; each must be a property of the entity whose column is shown as it is stored.
 * The entity's key is an int64 `id`, as a bigint or a number. The compiler checks what it can see of this: the names and types of properties.
 */
@Injectable()
export class JsonRows {
  private readonly cache = new WeakMap<Type, WeakMap<Type, ShownRows>>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly reader: JsonReader,
  ) {}

  /**
   * The row with this id, as the DTO shows it; undefined if it does not exist or is deleted (`@DeleteDateColumn()`). Within a transaction,
   * it is locked against changes.
   */
  async one<Dto extends object, Entity extends Shows<Dto>>(
    entity: Type<Entity>,
    dto: Type<Dto>,
    id: bigint | number,
  ): Promise<JsonText<Dto> | undefined> {
    const statements = this.statements(entity, dto);
    const found = await this.reader.row(statements.one, [String(BigInt(id))]);
    return found && new JsonText(statements.text(found['row']), statements.hasSingleTable, dto);
  }

  /**
   * A page of the rows that the request selects and whose properties have these values, as the DTO shows them; a value that is
   * undefined filters nothing. Rows that are deleted (`@DeleteDateColumn()`) are left out. The cost of a page does not depend on
   * how many rows come before it.
   */
  async page<Dto extends object, Entity extends Shows<Dto>>(
    entity: Type<Entity>,
    dto: Type<Dto>,
    request: PageRequest,
    equal: Filter<NoInfer<Entity>> = {},
  ): Promise<JsonPage<Dto>> {
    const { limit, after, order } = request;
    const statements = this.statements(entity, dto);
    const column = statements.orderColumn(order);
    const isDescending = order?.isDescending ?? false;
    const from = column ? startParameters(after, column.kind) : [idOfPosition(after, isDescending)];
    const where = conditionsOf(request, equal);
    const sql = statements.page(where, order, after !== undefined);
    const found = await this.reader.first(sql, pageParameters(limit, from, where));
    const last = found?.['last'];
    // New rows are added at the end, so they never belong to a page that is followed by another.
    const isFull = typeof last === 'string' && !column && !isDescending;
    const items = new JsonText<Dto[]>(
      statements.text(found?.['rows']),
      isFull && statements.hasGrowingIds,
      dto,
    );
    if (typeof last !== 'string') return { items };
    if (column) return { items, next: [String(found?.['at']), last] };
    return { items, next: [String(BigInt(last) + (isDescending ? -1n : 1n))] };
  }

  private statements(entity: Type, dto: Type): ShownRows {
    let byEntity = this.cache.get(dto);
    if (!byEntity) this.cache.set(dto, (byEntity = new WeakMap()));
    let statements = byEntity.get(entity);
    if (!statements) {
      const { dialect } = this.dataSource as Database;
      byEntity.set(entity, (statements = new ShownRows(this.dataSource.getMetadata(entity), dto, dialect)));
    }
    return statements;
  }
}

function conditionsOf({ where = [] }: PageRequest, equal: object): PageCondition[] {
  const conditions = comparisonsOf(where).map((one) =>
    typeof one.value === 'object' ? { ...one, value: padToPowerOfTwo(one.value) } : one,
  );
  for (const [property, value] of Object.entries(equal) as [string, string | undefined][])
    if (value !== undefined) conditions.push({ property, comparison: '=', value });
  return conditions;
}

/**
 * The values of a list, without duplicates, filled up to a power of two with null, which nothing equals: so lists of all
 * lengths have few statements, each of which stays prepared.
 */
function padToPowerOfTwo(values: readonly (Bindable | null)[]): (Bindable | null)[] {
  const distinct = [...new Set(values)];
  const length = 2 ** Math.ceil(Math.log2(distinct.length));
  return [...distinct, ...Array<null>(length - distinct.length).fill(null)];
}

/** The id that a page in the order of the id begins with. Throws validation_failed for a position that no row can have. */
function idOfPosition(after: Position | undefined, isDescending: boolean): string {
  if (after) return String(int64OfPosition(after));
  return String(isDescending ? INT64_MAX : INT64_MIN);
}

/**
 * The id and the ordering value after which a page begins; nothing for the first page. Throws validation_failed for a position
 * that no row can have.
 */
function startParameters(after: Position | undefined, kind: JsonKind): Bindable[] {
  if (!after) return [];
  const [value = '', id = ''] = after;
  return [String(int64OfPosition([id])), valueIn(value, kind)];
}

function valueIn(text: string, kind: JsonKind): Bindable {
  if (kind === 'integer') return String(int64OfPosition([text]));
  if (kind !== 'number') return text;
  const number = Number(text);
  if (Number.isNaN(number)) throw brokenCursor();
  return number;
}

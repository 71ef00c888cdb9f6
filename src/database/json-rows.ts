import { Injectable, type Type } from '@nestjs/common';
import { parse } from 'lossless-json';
import { DataSource } from 'typeorm';
import { Untransformed } from '../core/patches/untransformed.js';
import { type Database, JsonReader } from './database.js';
import { INT64_MAX, INT64_MIN } from './int64.js';
import type { JsonKind } from './dialect.js';
import { type PageRequest, type Position, brokenCursor, int64OfPosition } from './keyset-page.js';
import { type Bindable, type PageCondition, comparisonsOf } from './selection.js';
import { RowProjection, pageParameters } from './row-projection.js';

/** JSON text from the database that is sent unchanged: an object described by a DTO, or an array of them. */
export class JsonText<Shown = unknown> extends Untransformed {
  /** Exists only at compile time, so that the text of one DTO is not assignable to that of another. */
  declare protected readonly shown: Shown;
  /** The entity tag of the text together with its `Link` header, cached when it is first sent. */
  tag: { readonly link: string; readonly value: string } | undefined;

  constructor(
    readonly text: string,
    /** Whether inserting rows with generated ids leaves the text unchanged. */
    readonly survivesInserts = false,
    /** The DTO whose members the text is known to contain, and no others; undefined if that was not verified. */
    readonly dto?: Type,
  ) {
    super();
  }

  /** The parsed value with exact numbers, for embedding in a larger response. */
  toJSON(): unknown {
    return parse(this.text);
  }
}

/** An entity with all properties that a DTO exposes. */
type Shows<Dto> = Required<Dto> & { readonly id: bigint | number };

/** Required values of an entity's properties. */
type Filter<Entity> = { readonly [Property in keyof Entity]?: Entity[Property] & string };

/** A page of rows as a JSON array. */
export interface JsonPage<Dto> {
  readonly items: JsonText<Dto[]>;
  /** The position of the last row, if more rows follow. */
  readonly next?: Position;
}

/**
 * Reads rows as the JSON text of a response: one statement and no entities. The members are those that the response's DTO declares, in its
 * order. Each must be a property of the entity whose column is exposed unchanged. The entity's key must be an int64 `id`, as a bigint or a
 * number. The compiler checks the names and types of properties.
 */
@Injectable()
export class JsonRows {
  private readonly cache = new WeakMap<Type, WeakMap<Type, RowProjection>>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly reader: JsonReader,
  ) {}

  /**
   * The row with this id in the form of the DTO; undefined if it does not exist or is soft-deleted (`@DeleteDateColumn()`). Within a
   * transaction, it is locked against changes.
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
   * A page of the rows that match the request and these property values, in the form of the DTO; an undefined value does not filter.
   * Soft-deleted rows (`@DeleteDateColumn()`) are excluded. The cost of a page does not depend on the number of preceding rows.
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
    const lines = typeof found?.['rows'] === 'string' ? found['rows'].split('\n') : [];
    const isFollowed = lines.length > limit;
    if (isFollowed) lines.pop();
    const items = new JsonText<Dto[]>(
      statements.text(`[${lines.join(',')}]`),
      // New rows are added at the end, so they never belong to a page that is followed by another.
      isFollowed && !column && !isDescending && statements.hasGrowingIds,
      dto,
    );
    if (!isFollowed) return { items };
    const last = String(found?.['last']);
    if (column) return { items, next: [String(found?.['at']), last] };
    return { items, next: [String(BigInt(last) + (isDescending ? -1n : 1n))] };
  }

  private statements(entity: Type, dto: Type): RowProjection {
    let byEntity = this.cache.get(dto);
    if (!byEntity) this.cache.set(dto, (byEntity = new WeakMap()));
    let statements = byEntity.get(entity);
    if (!statements) {
      const { dialect } = this.dataSource as Database;
      byEntity.set(
        entity,
        (statements = new RowProjection(this.dataSource.getMetadata(entity), dto, dialect)),
      );
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
 * The distinct values of a list, padded with null, which equals nothing, to a power of two, so that lists of all lengths share a few
 * prepared statements.
 */
function padToPowerOfTwo(values: readonly (Bindable | null)[]): (Bindable | null)[] {
  const distinct = [...new Set(values)];
  const length = 2 ** Math.ceil(Math.log2(distinct.length));
  return [...distinct, ...Array<null>(length - distinct.length).fill(null)];
}

/** The id that a page starts after, when sorted by id. Throws validation_failed for a position that no row can have. */
function idOfPosition(after: Position | undefined, isDescending: boolean): string {
  if (after) return String(int64OfPosition(after));
  return String(isDescending ? INT64_MAX : INT64_MIN);
}

/**
 * The id and sort value that a page starts after; empty for the first page. Throws validation_failed for a position that no row can have.
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

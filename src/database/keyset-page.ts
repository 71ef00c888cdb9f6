import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { ApiError } from '../errors/api-error.js';
import { HTTP_ERRORS } from '../errors/http.errors.js';
import { INT64_MAX, INT64_MIN } from './int64.js';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Where a list goes on: the values of the last row, in the list's order. */
export type Position = readonly string[];

/** Which page of a list is wanted. */
export interface PageRequest {
  /** Most rows of a page. */
  readonly limit: number;
  /** The page begins behind this row; absent for the first page. */
  readonly after?: Position;
}

/** One page of a list. */
export interface Page<T> {
  readonly items: T[];
  /** The last row's position when more rows follow. */
  readonly next?: Position;
}

/** The page of rows of which one more than a page was read, if there was one more. */
export function pageOf<T>(rows: T[], limit: number, positionOf: (row: T) => Position): Page<T> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return rows.length > limit && last !== undefined ? { items, next: positionOf(last) } : { items };
}

/** A page of rows with `createdAt` and `id`, oldest first. Its cost does not depend on how many came before. */
export async function pageByCreation<T extends ObjectLiteral & { createdAt: string; id: string }>(
  query: SelectQueryBuilder<T>,
  { limit, after }: PageRequest,
): Promise<Page<T>> {
  const { alias } = query;
  if (after) {
    const [createdAt = '', id = ''] = after;
    if (after.length !== 2 || !INSTANT.test(createdAt) || !/^[\w-]{1,36}$/.test(id)) throw brokenCursor();
    query.andWhere(`(${alias}.createdAt, ${alias}.id) > (:createdAt, :id)`, { createdAt, id });
  }
  const rows = await query
    .orderBy(`${alias}.createdAt`)
    .addOrderBy(`${alias}.id`)
    .limit(limit + 1)
    .getMany();
  return pageOf(rows, limit, ({ createdAt, id }) => [createdAt, id]);
}

/**
 * The int64 that a position consists of; throws validation_failed when it is none, so that the
 * client made it up.
 */
export function int64OfPosition([text = '']: Position): bigint {
  const value = /^-?\d{1,19}$/.test(text) ? BigInt(text) : undefined;
  if (value === undefined || value < INT64_MIN || value > INT64_MAX) throw brokenCursor();
  return value;
}

/** What a cursor must be. */
export const CURSOR_RULE = {
  code: 'broken_cursor',
  message: 'This must be a cursor that this list gave, with the same filter.',
} as const;

/** The refusal of a cursor that no page of this list gave. */
export function brokenCursor(): ApiError {
  return new ApiError(HTTP_ERRORS.validation_failed, { details: [{ field: 'cursor', ...CURSOR_RULE }] });
}

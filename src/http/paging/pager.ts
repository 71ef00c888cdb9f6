import { hash } from 'node:crypto';
import { type ExecutionContext, applyDecorators, createParamDecorator } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { CURSOR_RULE, type PageRequest, type Position, brokenCursor } from '../../database/keyset-page.js';
import { reading } from '../../core/execution-context.js';
import { Rule } from '../validation/define-field.js';
import { Integer } from '../validation/fields.js';
import { publicPathOf } from '../../core/public-prefix.js';
import { selectionOf } from './selection.decorators.js';

/** Query of a paginated list. Extend it with filters (`@Filter()`) and a sort order (`@Sort()`). */
export class PageQuery {
  @Integer({ description: 'Maximum number of entries per page', minimum: 1, maximum: 100, default: 20 })
  limit!: number;

  @Cursor()
  cursor?: string;
}

/** The cursor of a page, from the previous page's `Link`. */
export function Cursor(): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({
      type: 'string',
      minLength: 1,
      description: 'Start of the page, from the `Link` with rel `next` of the previous page',
    }),
    Rule(
      CURSOR_RULE.code,
      CURSOR_RULE.message,
      (value) => value === undefined || (typeof value === 'string' && value !== ''),
    ),
  );
}

/** Paginates a list: decodes the cursor, and links to the next page if there is one. */
export class Pager {
  constructor(
    private readonly request: Request,
    private readonly response: Response,
  ) {}

  /**
   * The entries of the requested page according to `@Filter()` and `@Sort()`. `X-Total-Count` is the `total` of a list that is counted.
   * Throws validation_failed for an invalid or foreign cursor, and for incompatible filters and sort orders.
   */
  async respond<T>(
    query: PageQuery,
    list: (
      page: PageRequest,
    ) => Promise<{ readonly items: T; readonly next?: Position; readonly total?: number }>,
  ): Promise<T> {
    const { limit, cursor, ...filter } = query;
    const filters = Object.entries(filter).map(([parameter, value]) => `${parameter}=${inName(value)}`);
    const name = [this.request.path, ...filters.toSorted()].join(' ');
    const selection = selectionOf(query);
    const { items, next, total } = await list(
      cursor === undefined
        ? { limit, ...selection }
        : { limit, ...selection, after: decodeCursor(cursor, name) },
    );
    if (total !== undefined) this.response.setHeader('X-Total-Count', String(total));
    if (next) this.response.append('Link', this.linksTo(encodeCursor(next, name), query));
    return items;
  }

  /** Repeats the declared parameters of the list. */
  private linksTo(nextCursor: string, query: object): string {
    const { originalUrl } = this.request;
    const queryAt = originalUrl.indexOf('?');
    const sent = queryAt === -1 ? '' : originalUrl.slice(queryAt + 1);
    return pageLinks(publicPathOf(this.request), sent, nextCursor, (parameter) =>
      Object.hasOwn(query, parameter),
    );
  }
}

/** The value of a filter in the list's name, where spaces separate filters. */
function inName(value: unknown): string {
  return String(value).replaceAll(/[% ]/g, encodeURIComponent);
}

/** Handler parameter: the Pager of the request. */
export const Paged = createParamDecorator(
  reading('target', (_: unknown, context: ExecutionContext): Pager => {
    const http = context.switchToHttp();
    return new Pager(http.getRequest<Request>(), http.getResponse<Response>());
  }),
);

/** Length of the digest that binds a cursor to its list, in characters. */
const DIGEST_LENGTH = 8;

/** Encodes a position as a cursor: opaque, URL-safe, and bound to its list and filter. */
function encodeCursor(position: Position, list: string): string {
  const text = Buffer.from(JSON.stringify(position)).toString('base64url');
  return digestOf(text, list) + text;
}

/** Decodes the position in a cursor. Throws validation_failed if it is invalid or belongs to another list. */
export function decodeCursor(cursor: string, list: string): Position {
  const text = cursor.slice(DIGEST_LENGTH);
  if (cursor.slice(0, DIGEST_LENGTH) !== digestOf(text, list)) throw brokenCursor();
  try {
    const position: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (Array.isArray(position) && position.every(isStored)) return position;
  } catch {
    // Only a client that computes the digest itself gets here.
  }
  throw brokenCursor();
}

/** Whether a row may have this value. No database stores NUL or half of a surrogate pair, and PostgreSQL refuses to compare them. */
function isStored(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
}

function digestOf(text: string, list: string): string {
  return hash('sha256', `${list}\n${text}`, 'base64url').slice(0, DIGEST_LENGTH);
}

/**
 * The `Link` header of a page that is followed by another (RFC 8288): relative references to the next and the first page. Repeats only
 * those query parameters that `isKnown` accepts, unchanged, such as filters and limit.
 */
export function pageLinks(
  path: string,
  query: string,
  nextCursor: string,
  isKnown: (parameter: string) => boolean,
): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of new URLSearchParams(query))
    if (name !== 'cursor' && isKnown(name)) parameters.append(name, value);
  const first = parameters.toString();
  parameters.set('cursor', nextCursor);
  return `<${path}?${parameters.toString()}>; rel="next", <${path}${first === '' ? '' : `?${first}`}>; rel="first"`;
}

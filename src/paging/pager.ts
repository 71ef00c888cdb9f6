import { type ExecutionContext, applyDecorators, createParamDecorator } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { CURSOR_RULE, type PageRequest, type Position } from '../database/keyset-page.js';
import { ofTarget } from '../http/adapter/handler-parameters.js';
import { Rule } from '../input/define-field.js';
import { Integer } from '../input/fields.js';
import { decodeCursor, encodeCursor, pageLinks } from './cursor.js';

/** Query of a paged list; extend it with the filters of the list. */
export class PageQuery {
  @Integer({ description: 'Most entries of a page', minimum: 1, maximum: 100, default: 20 })
  limit!: number;

  @Cursor()
  cursor?: string;
}

/** The cursor of a page, as the `Link` of the page before gave it. */
export function Cursor(): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({
      type: 'string',
      description: 'Where the page begins: taken from the `Link` with rel `next` of the page before',
    }),
    Rule(
      CURSOR_RULE.code,
      CURSOR_RULE.message,
      (value) => value === undefined || (typeof value === 'string' && value !== ''),
    ),
  );
}

/** Answers a list page by page: reads the cursor, and links to the next page when there is one. */
export class Pager {
  constructor(
    private readonly request: Request,
    private readonly response: Response,
  ) {}

  /** The entries of the page that the query asks for. Throws validation_failed for a broken or foreign cursor. */
  async answer<T>(
    query: PageQuery,
    list: (page: PageRequest) => Promise<{ readonly items: T; readonly next?: Position }>,
  ): Promise<T> {
    const { limit, cursor, ...filter } = query;
    const filters = Object.entries(filter).map(([parameter, value]) => `${parameter}=${String(value)}`);
    const name = [this.request.path, ...filters.toSorted()].join(' ');
    const { items, next } = await list(
      cursor === undefined ? { limit } : { limit, after: decodeCursor(cursor, name) },
    );
    if (next) this.response.append('Link', this.linksTo(encodeCursor(next, name), query));
    return items;
  }

  /** Repeats the parameters that the list declares. `path` has no scheme and host, also when the request target has them. */
  private linksTo(nextCursor: string, query: object): string {
    const { path, originalUrl } = this.request;
    const queryAt = originalUrl.indexOf('?');
    const sent = queryAt === -1 ? '' : originalUrl.slice(queryAt + 1);
    return pageLinks(path, sent, nextCursor, (parameter) => Object.hasOwn(query, parameter));
  }
}

/** Handler parameter: the Pager of the request. */
export const Paged = createParamDecorator(
  ofTarget((_: unknown, context: ExecutionContext): Pager => {
    const http = context.switchToHttp();
    return new Pager(http.getRequest<Request>(), http.getResponse<Response>());
  }),
);

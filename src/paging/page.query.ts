import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { CURSOR_RULE } from '../database/keyset-page.js';
import { Rule } from '../input/define-field.js';
import { Integer } from '../input/fields.js';

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

import type { Type } from '@nestjs/common';
import { type Answer, NEXT_PAGE } from '../../http/operation.decorator.js';

/** What an operation answers that lists something page by page. */
export function pageOf(arrayOf: Type, schemaName: string, description: string): Answer {
  return { status: 200, description, arrayOf, schemaName, optionalHeaders: NEXT_PAGE };
}

import type { Type } from '@nestjs/common';
import type { Page, PageRequest } from '../database/keyset-page.js';
import { ValidationPipe } from '../http/validation/validation.pipe.js';

const PAGE_SIZE = 500;
const pipe = new ValidationPipe();

/**
 * Options as an instance of the class that validates the same request over HTTP: rules and messages are the same. An option
 * that was left out stays undefined. Throws validation_failed with every fault.
 */
export async function inputOf<T extends object>(metatype: Type<T>, options: object): Promise<T> {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  return (await pipe.transform(given, { type: 'body', metatype })) as T;
}

/** The first rows of a list, or all of them, read page by page. */
export async function everyPage<T>(
  list: (page: PageRequest) => Promise<Page<T>>,
  most = Number.POSITIVE_INFINITY,
): Promise<T[]> {
  const rows: T[] = [];
  let page = await list({ limit: Math.min(PAGE_SIZE, most) });
  rows.push(...page.items);
  while (page.next && rows.length < most) {
    page = await list({ limit: Math.min(PAGE_SIZE, most - rows.length), after: page.next });
    rows.push(...page.items);
  }
  return rows;
}

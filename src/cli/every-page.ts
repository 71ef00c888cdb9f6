import type { Page, PageRequest } from '../database/keyset-page.js';

const PAGE_SIZE = 500;

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

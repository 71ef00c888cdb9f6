/** A page of a list. */
export interface Page<Entry> {
  /** Its entries. */
  readonly items: readonly Entry[];
  /** Where the next page begins: give it as `cursor` to go on later. Undefined on the last page. */
  readonly cursor: string | undefined;
}

/** A page, and the query of the next one. */
export interface FetchedPage<Entry> extends Page<Entry> {
  readonly next: Readonly<Record<string, string>> | undefined;
}

/** Asks for a page; for the first when given no query. */
export type FetchPage<Entry> = (next: FetchedPage<Entry>['next']) => Promise<FetchedPage<Entry>>;

/**
 * A list over all its pages: `for await (const pet of client.pets.list())`. A page is asked for when the one before is used up; whoever
 * breaks out asks for no more. Each iteration begins anew.
 */
export class PagedList<Entry> implements AsyncIterable<Entry> {
  readonly #begin: () => FetchPage<Entry>;

  /** @param begin what begins a new iteration */
  constructor(begin: () => FetchPage<Entry>) {
    this.#begin = begin;
  }

  /** The entries, one after the other. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Entry, void, undefined> {
    for await (const { items } of this.pages()) yield* items;
  }

  /** The pages, one after the other. */
  async *pages(): AsyncGenerator<Page<Entry>, void, undefined> {
    const fetchPage = this.#begin();
    let next: FetchedPage<Entry>['next'];
    do {
      const page = await fetchPage(next);
      yield { items: page.items, cursor: page.cursor };
      next = page.next;
    } while (next !== undefined);
  }
}

import { unexpected } from './answers.js';
import { linkTarget } from './link.js';
import type { FetchedPage } from './paged-list.js';
import { platform } from './platform.js';
import type { Carried } from './sender.js';

/**
 * The page that an answer is. Of its `Link` only the query is taken, so that no answer leads the client, and the key, elsewhere. `seen`
 * has the queries of the pages before. Throws an UnexpectedResponseError for what is no list, or leads back to a page before.
 */
export function pageOf<Entry>(
  { answer, attempted, context }: Carried,
  seen: Set<string>,
): FetchedPage<Entry> {
  if (!Array.isArray(answer)) throw unexpected('an answer that is no list', attempted, context);
  const next = nextPage({ answer, attempted, context });
  if (!next) return { items: answer as Entry[], cursor: undefined, next: undefined };
  seen.add(new platform.URL(context.request.url).search);
  if (seen.has(next.search)) throw unexpected('a next page that was there before', attempted, context);
  return { items: answer as Entry[], cursor: next.query['cursor'], next: next.query };
}

interface NextPage {
  readonly search: string;
  readonly query: Readonly<Record<string, string>>;
}

function nextPage({ attempted, context }: Carried): NextPage | undefined {
  const value = attempted.response.headers.get('link');
  if (value === null) return undefined;
  try {
    const target = linkTarget(value, 'next');
    if (target === undefined) return undefined;
    const { search } = new platform.URL(target, context.request.url);
    return { search, query: queryIn(search) };
  } catch {
    throw unexpected('a Link that cannot be read', attempted, context);
  }
}

function queryIn(search: string): Record<string, string> {
  return Object.fromEntries(
    search
      .slice(1)
      .split('&')
      .filter((pair) => pair !== '')
      .map((pair) => {
        const [name = '', ...value] = pair.split('=');
        return [decoded(name), decoded(value.join('='))];
      }),
  );
}

function decoded(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

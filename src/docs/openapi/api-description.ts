import { type DocumentFacts, UNKNOWN_PARAMETERS } from './document-facts.js';
import { headersOfAll } from './headers.js';

/** The introduction of the API document, in Markdown. Each paragraph is one line, because pages keep line breaks. */
export function apiDescription({ description, keyPrefix, plans, page }: DocumentFacts): string {
  const guide = page('/docs/guides/using-the-api');
  const errors = page('/docs/errors');
  return [
    `${description} Every request needs an API key as a bearer token, every plan has a limit per minute and per day, and every error has the Error body.`,
    `The guide [Using the API well](${guide}) has examples to paste for everything below; [Errors](${errors}) lists every code with its cause and remedy.`,

    '## Get a key',
    `The operator of the service issues keys: \`petstore client create --name "Your shop" --plan free\`, then \`petstore key issue --client <id>\`. A key is shown once, when it is issued. It begins with \`${keyPrefix}_live_\` in production and with \`${keyPrefix}_test_\` elsewhere; outside production the first start of an empty store prints one.`,
    'Send it with every request as `Authorization: Bearer <API_KEY>`. On this page, press **Authorize** and paste only the key. A key has scopes, and each operation names the one that it needs. Keep keys out of URLs, web pages and repositories.',

    '## Plans',
    plans,
    'The limits belong to the client, however many keys it has. An enterprise client has its own limits.',

    '## Quotas',
    'Requests are counted per UTC minute and per UTC day. A request is accepted only if both have requests left; a refused one does not count. Every response has `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset` (Unix seconds) of the window with the fewest requests left; `RateLimit` and `RateLimit-Policy` describe both.',
    `After a 429, wait for \`Retry-After\`: then the full limit is available again. If the retry fails, wait longer each time (1 s, 2, 4, 8, with some randomness). A key that does not wait is [banned](${errors}#api_key_banned) for a while.`,

    '## Headers of every response',
    headersOfAll(),

    '## Errors',
    `Every response with a status of 400 or above has the same body: \`code\` for programs, \`message\` for people, and \`status\`. [\`validation_failed\`](${errors}#validation_failed) adds \`details\`, with an entry for each error. The meaning of a code never changes. Quote the \`X-Request-Id\` of the response when you report a problem.`,
    UNKNOWN_PARAMETERS,

    '## Page through a list',
    'A list has at most `limit` entries. If there are more, the response has a `Link` with `rel="next"`: follow it unchanged until it is missing. The cursor is opaque and valid only for the same filter. Entries that are added at the same time can become visible in a different order than that of their ids. To miss none, read the list again from its first page, or use webhooks.',

    '## Make conditional requests',
    'A response to GET has an `ETag`. Send it in `If-None-Match`: while nothing has changed, the response is 304 without a body. It counts like any other request. Revalidate stored responses before each use, and use them for one key only.',

    '## Retry safely',
    'Send an `Idempotency-Key` with a POST that accepts one, a new UUID for every new request. If no response arrives, retry with the same key and the same body: the request is carried out once, and its response is the same for 24 hours.',

    '## Deprecation and versions',
    'The path of an operation begins with its version. A version only grows: optional parameters and fields, headers, operations, codes. Clients must ignore what they do not know. The removal of an operation is announced by `Deprecation`, `Sunset` and a `Link` with `rel="deprecation"` in each of its responses; from the `Sunset` on it responds 410 and names its successor.',

    '## 64-bit integers',
    'Fields of the format `int64` are JSON integers, exact from −2⁶³ to 2⁶³−1. `JSON.parse` of JavaScript reads them as doubles, which are exact up to 2⁵³: a larger id is changed without an error. Parse with a reviver that reads `context.source` into a `BigInt`, or with a package such as lossless-json, and configure client generators to use `bigint` for `int64`.',
  ].join('\n\n');
}

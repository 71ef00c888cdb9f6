import { type DocumentFacts, UNKNOWN_PARAMETERS } from './document-facts.js';
import { headersOfAll } from './headers.js';

/** The introduction of the API document, in Markdown. Each paragraph is one line, because pages keep line breaks. */
export function apiDescription({ description, keyPrefix, plans, page }: DocumentFacts): string {
  const guide = page('/docs/guides/using-the-api');
  const errors = page('/docs/errors');
  return [
    `${description} Every request needs an API key as a bearer token, every plan limits the requests per minute and per day, and every error response has the same format.`,
    `The guide [Using the API well](${guide}) contains examples for everything below. [Errors](${errors}) lists every code with its cause and remedy.`,

    '## Get a key',
    `The operator of the service issues keys: \`petstore client create --name "Your shop" --plan free\`, then \`petstore key issue --client <id>\`. A key is shown once, when it is issued. It begins with \`${keyPrefix}_live_\` in production and with \`${keyPrefix}_test_\` elsewhere. Outside production, the first start with an empty database prints a demo key.`,
    'Send it with every request as `Authorization: Bearer <API_KEY>`. On this page, press **Authorize** and paste only the key. Each operation names the scope that the key must have. Keep keys out of URLs, web pages and repositories.',

    '## Plans',
    plans,
    'All keys of a client share its limits. Each enterprise client has its own limits.',

    '## Quotas',
    'Requests are counted per UTC minute and per UTC day. A request is accepted only if the client has requests left in both. Refused requests do not count. Every response contains `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset` (Unix seconds) of the window with the fewest requests left. `RateLimit` and `RateLimit-Policy` describe both windows.',
    `After a 429, wait for \`Retry-After\`, after which the full limit is available again. If the retry fails, double the wait each time (1, 2, 4, 8 seconds, with some jitter). A key that does not wait is [banned](${errors}#api_key_banned) temporarily.`,

    '## Headers of every response',
    headersOfAll(),

    '## Errors',
    `Every response with a status of 400 or above has the same body: \`code\` for programs, \`message\` for people, and \`status\`. A [\`validation_failed\`](${errors}#validation_failed) response adds \`details\`, with an entry for each error. The meaning of a code never changes. Quote the \`X-Request-Id\` of the response when you report a problem.`,
    UNKNOWN_PARAMETERS,

    '## Page through a list',
    'A page contains up to `limit` entries. If more entries exist, the `Link` header contains the URL of the next page, with `rel="next"`. Use this URL unchanged. The cursor is opaque and valid only with the same filter. Concurrently added entries can become visible out of id order. If you must not miss entries, read the list again from its first page, or use webhooks.',

    '## Make conditional requests',
    'Responses to GET have an `ETag`. Send it in `If-None-Match`. If nothing has changed, the service returns 304 without a body. The request counts toward the quota. Revalidate a stored response before each use, and do not use it for another key.',

    '## Retry safely',
    'Send an `Idempotency-Key` with every POST that accepts this header, with a new UUID for every new request. If no response arrives, retry with the same key and the same body. The request is carried out once, and retries get the same response for 24 hours.',

    '## Deprecation and versions',
    'The path of an operation begins with its version. Changes within a version only add optional parameters, optional fields, headers, operations and error codes. Clients must ignore fields, headers and codes that they do not recognize. Every response of a deprecated operation contains `Deprecation`, `Sunset`, and a `Link` with `rel="deprecation"`. From the date in `Sunset`, the operation returns 410 and names its replacement.',

    '## 64-bit integers',
    'Fields with the format `int64` are JSON integers from −2⁶³ to 2⁶³−1. `JSON.parse` in JavaScript reads them as doubles, which are exact only up to 2⁵³, and silently rounds larger ids. Use a reviver that converts `context.source` to a `BigInt`, or a package such as lossless-json, and configure client generators to use `bigint` for `int64`.',
  ].join('\n\n');
}

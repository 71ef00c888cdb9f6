import { type DocumentFacts, UNKNOWN_PARAMETERS, paragraphs } from './document-facts.js';

/** The prose at the head of the API's document, in Markdown; each paragraph is one line, because pages keep line breaks. */
export function apiDescription({ plans, page }: DocumentFacts): string {
  const guide = page('/docs/guides/using-the-api');
  const errors = page('/docs/errors');
  return paragraphs(
    'Keeps a catalogue of animals offered in a store. Every call carries an API key as a bearer token; every plan has a limit of requests per minute and per day; every refusal has the Error body.',
    `The guide [Using the API well](${guide}) has an example to paste for everything below; [Errors](${errors}) lists every code with its cause and what to do.`,

    '## Get a key',
    'The operator of the service issues keys: `petstore client create --name "Your shop" --plan free`, then `petstore key issue --client <id>`. A key is shown once, when it is issued. It begins with `pst_live_` in production and with `pst_test_` elsewhere; outside production the first start of an empty store prints one.',
    'Send it with every request as `Authorization: Bearer <API_KEY>`. On this page: press **Authorize** and paste the key alone. A key holds scopes, and each operation names the one that it needs. Keep keys out of addresses, pages and repositories.',

    '## Plans',
    plans,
    'The limits belong to the client, however many keys it has. Those of an enterprise client are its own.',

    '## Quotas, and how to wait',
    'Two windows count: the UTC minute and the UTC day. A request is admitted only if both have room, and a refused one uses up nothing. Every response has `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset` (Unix seconds) of the window with the fewest requests left; `RateLimit` and `RateLimit-Policy` tell both.',
    `After a 429 wait the seconds in \`Retry-After\`: at that second the window is full again. If that fails too, wait longer each time (1 s, 2, 4, 8, with some randomness). A key that goes on without waiting is [banned](${errors}#api_key_banned) for a while.`,

    '## Errors',
    `Every status from 400 on has the same body: \`code\` for programs, \`message\` for people, and \`status\`. [\`validation_failed\`](${errors}#validation_failed) adds \`details\`, one entry for every fault that was found. Codes never change their meaning. Name the \`X-Request-Id\` of the response when you report a fault.`,
    UNKNOWN_PARAMETERS,

    '## Page through a list',
    'A list has at most `limit` entries. If there are more, the response has a `Link` with `rel="next"`: follow it unchanged until there is none. Its cursor is opaque, and belongs to the filter that it was made for.',

    '## Ask whether something has changed',
    'A GET answers with an `ETag`. Send it back in `If-None-Match`: while nothing has changed, the answer is 304 without a body. It counts like any other request. Stored responses must be revalidated before each use, and serve one key only.',

    '## Retry safely',
    'Send an `Idempotency-Key` with a POST that takes one, a new UUID for every new request. When no answer arrives, repeat the request with the same key and the same body: it is carried out once, and answered the same for 24 hours.',

    '## Deprecation and versions',
    'The path of an operation begins with its version. Within a version only additions are made: optional parameters and fields, headers, operations, codes; a client must ignore what it does not know. An operation that will be removed is announced by `Deprecation`, `Sunset` and a `Link` with `rel="deprecation"` on each of its responses; from the `Sunset` on it answers 410 and names its successor.',

    '## Numbers of 64 bits',
    'Fields of the format `int64` are JSON integers, exact from −2⁶³ to 2⁶³−1. `JSON.parse` of JavaScript makes doubles of them, which are exact up to 2⁵³ only: a larger id comes out as another one, without an error. Clients in JavaScript should parse with a reviver that reads `context.source` into a `BigInt`, or with a package such as lossless-json, and tell their generator so where it can make `bigint` of `int64`.',
  );
}

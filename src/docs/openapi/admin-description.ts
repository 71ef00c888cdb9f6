import { type DocumentFacts, UNKNOWN_PARAMETERS } from './document-facts.js';

/** The prose at the head of the administration's document, in Markdown. */
export function adminDescription({ plans, page }: DocumentFacts): string {
  const errors = page('/docs/errors');
  return [
    'Clients, their keys and webhooks, what they use, and who changed what. Every request needs an API key with the scope `admin`, counts for the client of that key, and has the same headers and the same Error body as the API.',
    `The command line does the same without a key: \`petstore --help\`. [Errors](${errors}) lists every code with its cause and what to do.`,

    '## Get a key',
    'The first one comes from the command line, on the machine of the service: `petstore key issue --client <id> --scopes admin`. With it `POST /keys` issues others. A key can pass on only scopes that it has. Give each operator a separate client, so that the audit trail shows who did what.',

    '## Clients, keys and plans',
    'A client holds a plan, a quota and any number of keys. Changing its plan works within a second, and keeps what is already used. Suspending it refuses all its keys until it is resumed; deleting it ends them.',
    plans,

    '## Webhooks',
    'Clients order endpoints for themselves under `/account/webhooks`; here they are made, changed, disabled and deleted for any client. What an operator disables only an operator enables.',

    '## Secrets are shown once',
    'The secret of a key is only in the response to `POST /keys` and to its rotation: the service keeps a digest. A rotated key works until the `grace` is over, so that the new one can be rolled out.',
    'These operations take no `Idempotency-Key` and refuse a request that has one: a stored response would contain the secret of a new key. If no response arrives, list the keys of the client, and revoke one that nobody received.',

    '## Nobody is locked out by accident',
    `What would end the last working key with the scope \`admin\` is refused with [\`last_key_with_scope\`](${errors}#last_key_with_scope), unless \`force=true\` says that this is meant.`,

    '## Quotas and errors',
    `Requests count as everywhere; after a 429 wait the seconds in \`Retry-After\`. A status from 400 on has the Error body, and [\`validation_failed\`](${errors}#validation_failed) names every fault in \`details\`.`,
    UNKNOWN_PARAMETERS,

    '## Lists',
    'A list has at most `limit` entries. If there are more, follow the `Link` with `rel="next"` unchanged until a response has no such link. The audit trail keeps every change with its instant, its operator and its address.',
  ].join('\n\n');
}

import { type DocumentFacts, UNKNOWN_PARAMETERS } from './document-facts.js';

/** The prose at the head of the administration's document, in Markdown. */
export function adminDescription({ plans, page }: DocumentFacts): string {
  const errors = page('/docs/errors');
  return [
    'Clients, their keys, webhooks and usage, and the audit trail. Every request needs an API key with the scope `admin`, counts for the client of that key, and has the same headers and the same Error body as the API.',
    `The command line does the same without a key: \`petstore --help\`. [Errors](${errors}) lists every code with its cause and remedy.`,

    '## Get a key',
    'The first one comes from the command line, on the machine of the service: `petstore client create --name Operators --plan business --issue-key --scopes admin`. With it `POST /keys` issues others. A key can pass on only scopes that it has. Give each operator a separate client, so that the audit trail shows who did what.',

    '## Clients, keys and plans',
    'A client holds a plan, a quota and any number of keys. A change of its plan takes effect within a second; requests already used still count. Suspending it refuses all its keys until it is resumed; deleting it ends them.',
    plans,

    '## Webhooks',
    'Clients manage their own endpoints under `/account/webhooks`; here operators create, change, disable and delete those of any client. Only an operator can enable an endpoint that an operator has disabled.',

    '## Secrets are shown once',
    'The secret of a key is only in the response to `POST /keys` or to its rotation: the service stores only a digest. A rotated key works until the `grace` is over, so that the new one can be rolled out.',
    'These operations take no `Idempotency-Key` and refuse a request that has one: a stored response would contain the secret of a new key. If no response arrives, list the keys of the client and revoke the one whose secret you did not receive.',

    '## Nobody is locked out by accident',
    `A change that would leave no working key with the scope \`admin\` is refused with [\`last_key_with_scope\`](${errors}#last_key_with_scope), unless the request has \`force=true\`.`,

    '## Quotas and errors',
    `Requests count towards the quota of the client; after a 429, wait the seconds in \`Retry-After\`. A status from 400 on has the Error body, and [\`validation_failed\`](${errors}#validation_failed) names every fault in \`details\`.`,
    UNKNOWN_PARAMETERS,

    '## Lists',
    'A list has at most `limit` entries. If there are more, follow the `Link` with `rel="next"` unchanged until a response has no such link. The audit trail keeps every change with its instant, its operator and its address.',
  ].join('\n\n');
}

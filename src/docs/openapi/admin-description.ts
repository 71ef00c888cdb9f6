import { type DocumentFacts, UNKNOWN_PARAMETERS } from './document-facts.js';

/** The introduction of the administration document, in Markdown. */
export function adminDescription({ plans, page }: DocumentFacts): string {
  const errors = page('/docs/errors');
  return [
    'Manage clients, their keys, webhooks and usage, and read the audit trail. Every request requires an API key with the scope `admin`, ' +
      'counts toward the quota of that key’s client, and has the same headers and Error body as the API.',
    `The command line does the same without a key: \`petstore --help\`. [Errors](${errors}) lists every code with its cause and remedy.`,

    '## Get a key',
    'Create the first one with the command line, on the machine of the service: `petstore client create --name Operators --plan business ' +
      '--issue-key --scopes admin,pets:read,pets:write`. Use it to issue more keys with `POST /keys`. A key can grant only scopes that it has. Give each operator ' +
      'a separate client, so that the audit trail shows who did what.',

    '## Clients, keys and plans',
    'A client has a plan, a quota and any number of keys. A change of its plan takes effect within a second; requests already used still ' +
      'count. Suspending a client refuses all its keys until it is resumed; deleting it deletes them.',
    plans,

    '## Webhooks',
    'Clients manage their own endpoints under `/account/webhooks`; here operators create, change, disable and delete those of any client. ' +
      'Only an operator can enable an endpoint that an operator has disabled.',

    '## Secrets are shown once',
    'The secret of a key is only in the response to `POST /keys` or to its rotation, because the service stores only a digest. A rotated key ' +
      'works until the end of its grace period, so that you can deploy the new one.',
    'These operations refuse an `Idempotency-Key`, because a stored response would contain the secret of a new key. ' +
      'If you receive no response, list the keys of the client and revoke the one whose secret you did not receive.',

    '## Nobody is locked out by accident',
    `A change that would leave no working key with the scope \`admin\` is refused with [\`last_key_with_scope\`](${errors}#last_key_with_scope), unless the request has \`force=true\`.`,

    '## Quotas and errors',
    `Requests count toward the quota of the client; after a 429, wait for the number of seconds in \`Retry-After\`. A response with a status of 400 or above has the Error body, and [\`validation_failed\`](${errors}#validation_failed) lists every error in \`details\`.`,
    UNKNOWN_PARAMETERS,

    '## Lists',
    'A list has at most `limit` entries. If there are more, follow the `Link` with `rel="next"` unchanged until a response has no such link. ' +
      'The audit trail records every change with its time, operator and IP address.',
  ].join('\n\n');
}

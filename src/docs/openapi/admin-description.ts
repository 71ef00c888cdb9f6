import { operatorScopes } from '../../auth/scopes.js';
import { type DocumentFacts, UNKNOWN_PARAMETERS } from './document-facts.js';

/** The introduction of the administration document, in Markdown. */
export function adminDescription({ plans, page }: DocumentFacts): string {
  const errors = page('/docs/errors');
  return [
    'Manage clients, their keys, webhooks and usage, and read the audit trail. Every request requires an API key with the scope `admin`, ' +
      'counts toward the quota of that key’s client, and has the same headers and Error body as the API.',
    `The command line does the same without a key: \`petstore --help\`. [Errors](${errors}) lists every code with its cause and remedy.`,

    '## Get a key',
    'Create the first administrator key with the command line, on the machine of the service: `petstore client create --name Operators --plan business ' +
      `--issue-key --scopes ${operatorScopes()}\`. Use this key to issue more keys with \`POST /keys\`. A key can grant only scopes that it has. Give each operator ` +
      'a separate client, so that the audit trail shows who did what.',

    '## Clients, keys and plans',
    'A client has a plan, a quota and any number of keys. A change of its plan takes effect within a second, and earlier requests still ' +
      'count. While a client is suspended, all its keys are refused. Deleting a client deletes its keys.',
    plans,

    '## Webhooks',
    'Clients manage their own endpoints under `/account/webhooks`. Operators create, change, disable and delete the endpoints of any client. ' +
      'Only an operator can enable an endpoint that an operator has disabled.',

    '## Secrets are shown once',
    'The secret of a key appears only in the response that issues or rotates the key, because the service stores only a digest. A rotated key ' +
      'works until the end of its grace period, so that you can deploy the new one.',
    'These operations refuse an `Idempotency-Key`, because a stored response would contain the secret of a new key. ' +
      'If you receive no response, list the keys of the client and revoke the one whose secret you did not receive.',

    '## The last administrator key',
    `A change that would leave no working key with the scope \`admin\` is refused with [\`last_key_with_scope\`](${errors}#last_key_with_scope), unless the request has \`force=true\`.`,

    '## Quotas and errors',
    `Requests count toward the quota of the client. After a 429, wait for the number of seconds in \`Retry-After\`. A response with a status of 400 or above has the Error body, and [\`validation_failed\`](${errors}#validation_failed) lists every error in \`details\`.`,
    UNKNOWN_PARAMETERS,

    '## Lists',
    'A page contains up to `limit` entries. If more entries exist, the `Link` header contains the URL of the next page, with `rel="next"`. Use this URL unchanged. ' +
      'The audit trail records every change with its time, operator and IP address.',
  ].join('\n\n');
}

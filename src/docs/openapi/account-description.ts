import { webhookEventsTable } from '../../webhooks/webhook-events.js';
import { type DocumentFacts, UNKNOWN_PARAMETERS } from './document-facts.js';

/** The prose at the head of the self-service's document, in Markdown. */
export function accountDescription({ page }: DocumentFacts): string {
  const errors = page('/docs/errors');
  return [
    'Your client, its usage, its keys and its webhooks. Every request needs an API key, and shows and changes only the client of that key.',

    '## No quota is used',
    'Nothing here counts towards your quota. `GET /account` and `GET /account/usage` need no scope, and respond even if no request is left or the key is banned, within a separate limit that each operation names. The headers show your quota; a 429 of the separate limit shows that limit, and does not count as a strike.',

    '## Manage your own keys',
    `Keys are listed, issued, labelled, rotated and revoked with the scope \`account\`, which no key has unless it was named when the key was issued. A key passes on only scopes that it has, and never \`admin\`. Keys of other clients are [not found](${errors}#key_not_found).`,

    '## Receive webhooks',
    `A webhook endpoint is a URL of your server that receives events, signed as in [Standard Webhooks](https://www.standardwebhooks.com). \`GET /account/webhook-events\` lists the events; a key can subscribe only to events that it may read. The delivery log shows what was sent, and each delivery can be sent again. Endpoints of other clients are [not found](${errors}#webhook_endpoint_not_found).`,
    webhookEventsTable(),

    '## Secrets are shown once',
    'The secret of a key, or of a webhook endpoint, is in the response that created it, and nowhere else. These requests refuse an `Idempotency-Key`, because the stored response would contain the secret. If no response arrives, list your keys and revoke the one whose secret you did not receive.',

    '## Errors',
    `A status from 400 on has the Error body, and [\`validation_failed\`](${errors}#validation_failed) names every fault in \`details\`.`,
    UNKNOWN_PARAMETERS,
  ].join('\n\n');
}

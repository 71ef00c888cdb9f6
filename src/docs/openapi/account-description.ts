import { webhookEventsTable } from '../../webhooks/webhook-events.js';
import { type DocumentFacts, UNKNOWN_PARAMETERS } from './document-facts.js';

/** The introduction of the self-service document, in Markdown. */
export function accountDescription({ page }: DocumentFacts): string {
  const errors = page('/docs/errors');
  return [
    'Manage your client, its usage, keys and webhooks. Every request requires an API key, and applies only to the client of that key.',

    '## Separate limits',
    'These operations do not count toward your quota. They have limits of their own: one for your client and its usage, and separate ones ' +
      'for reading and changing keys and webhooks. `GET /account` and `GET /account/usage` need no scope, and work even if your quota is used up or the key is banned. Response headers show your quota, except in a 429 because of the ' +
      'operation’s own limit, which shows that limit and does not count as a strike.',

    '## Manage your own keys',
    `With the scope \`account\`, you can list, issue, label, rotate and revoke keys. A key has this scope only if it was requested when the key was issued. A key can grant only scopes that it has, but never \`admin\`. Keys of other clients are [not found](${errors}#key_not_found).`,

    '## Receive webhooks',
    `A webhook endpoint is a URL of your server that receives events, signed as in [Standard Webhooks](https://www.standardwebhooks.com). \`GET /account/webhook-events\` lists the events. A key can subscribe only to events for which it has the scope. The delivery log shows what was sent, and each delivery can be sent again. Endpoints of other clients are [not found](${errors}#webhook_endpoint_not_found).`,
    webhookEventsTable(),

    '## Secrets are shown once',
    'The secret of a key or a webhook endpoint appears only in the response that creates it. These requests refuse an ' +
      '`Idempotency-Key`, because the stored response would contain the secret. If no response arrives, list your keys and revoke the one ' +
      'whose secret you did not receive.',

    '## Errors',
    `A response with a status of 400 or above has the Error body, and [\`validation_failed\`](${errors}#validation_failed) lists every error in \`details\`.`,
    UNKNOWN_PARAMETERS,
  ].join('\n\n');
}

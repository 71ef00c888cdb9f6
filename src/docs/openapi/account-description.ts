import { webhookEventsTable } from '../../webhooks/webhook-events.js';
import { type DocumentFacts, UNKNOWN_PARAMETERS, paragraphs } from './document-facts.js';

/** The prose at the head of the self-service's document, in Markdown. */
export function accountDescription({ page }: DocumentFacts): string {
  const errors = page('/docs/errors');
  return paragraphs(
    'Who you are, what you have used, your own keys, and your webhooks. Every call carries an API key; what it shows and changes is its client, and nothing of any other.',

    '## Ask without cost',
    'Nothing here counts for your quota. `GET /account` and `GET /account/usage` need no scope, and are answered when no request is left and while the key is banned, up to a bound of their own that each operation names. The headers tell your quota as it stands; a 429 of the bound tells the bound, and is no strike.',

    '## Order your own keys',
    `Keys are listed, issued, labelled, rotated and revoked with the scope \`account\`, which no key has unless it was named when the key was issued. A key hands on only scopes that it holds itself, and never \`admin\`. Keys of other clients are [not found](${errors}#key_not_found), like keys that never were.`,

    '## Have your server told',
    `A webhook endpoint is an address of yours that is sent what happens, signed as [Standard Webhooks](https://www.standardwebhooks.com) has it. \`GET /account/webhook-events\` lists what it can be told of; a key has it told only of what it may read itself. The log keeps what was sent, and sends it once more when you ask. Endpoints of other clients are [not found](${errors}#webhook_endpoint_not_found).`,
    webhookEventsTable(),

    '## Secrets are shown once',
    'The secret of a key, or of a webhook endpoint, is in the answer that made it, and nowhere else. Orders take no `Idempotency-Key`, and one that has it is refused: what is kept for a repetition would hold the secret. When no answer arrives, list your keys, and revoke one that nobody received.',

    '## Errors',
    `A status from 400 on has the Error body, and [\`validation_failed\`](${errors}#validation_failed) names every fault in \`details\`.`,
    UNKNOWN_PARAMETERS,
  );
}

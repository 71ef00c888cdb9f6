import type { DisabledBecause } from './webhook-endpoint.entity.js';
import { defineWebhookEvent } from './webhook-events.js';

/** An endpoint that gets no messages any more. */
export interface WebhookEndpointDisabled {
  readonly id: string;
  readonly url: string;
  readonly label: string | null;
  readonly because: DisabledBecause;
  /** ISO 8601 text in UTC. */
  readonly disabledAt: string;
}

/** An endpoint of the client was disabled because it failed: the client's other endpoints are told. */
export const WEBHOOK_ENDPOINT_DISABLED = defineWebhookEvent<WebhookEndpointDisabled>(
  'webhook_endpoint.disabled',
  {
    description:
      'Another one of your endpoints was disabled, because it failed for three days or responded 410. `data`: `id`, `url`, ' +
      '`label`, `because`, `disabledAt`.',
  },
);

/** Is sent when it is ordered, and to no subscriber. */
export const WEBHOOK_TEST = defineWebhookEvent<{ readonly endpointId: string }>('webhook.test', {
  description:
    'A test was requested: `POST …/webhooks/{endpointId}/test`. It goes to that endpoint only, without a subscription. `data`: `endpointId`.',
});

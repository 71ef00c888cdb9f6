import { defineWebhookEvent } from '../webhook-events.js';

/** What a test message tells. */
export interface WebhookTest {
  readonly endpointId: string;
}

/** Is sent when it is ordered, and to no subscriber. */
export const WEBHOOK_TEST = defineWebhookEvent<WebhookTest>('webhook.test', {
  description:
    'A test was ordered: `POST …/webhooks/{endpointId}/test`. It goes to that endpoint; none subscribes to it. `data`: `endpointId`.',
});

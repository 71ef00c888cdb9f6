import { defineWebhookEvent } from '../webhook-events.js';

/** What a test message tells. */
export interface WebhookTest {
  readonly endpointId: string;
}

/** Is sent when it is ordered, and to no subscriber. */
export const WEBHOOK_TEST = defineWebhookEvent<WebhookTest>('webhook.test', {
  description:
    'A test was ordered. It goes to the endpoint that it was ordered for; no endpoint subscribes to it.',
});

import type { WebhookEndpoint } from '../webhook-endpoint.entity.js';

/** An endpoint, and the names of the events that it is told of, in alphabetical order. */
export interface SubscribedEndpoint {
  readonly endpoint: WebhookEndpoint;
  readonly events: readonly string[];
}

/** An endpoint whose secret was just made, which is shown this once. */
export interface EndpointWithSecret extends SubscribedEndpoint {
  readonly secret: string;
}

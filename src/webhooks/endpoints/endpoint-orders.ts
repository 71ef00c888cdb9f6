import type { WebhookEndpoint } from '../webhook-endpoint.entity.js';

/** An endpoint to make. */
export interface NewEndpoint {
  readonly clientId: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly label?: string | null;
}

/** What to change of an endpoint; what is left out stays as it is. */
export interface EndpointChanges {
  readonly url?: string;
  readonly events?: readonly string[];
  readonly label?: string | null;
  readonly enabled?: boolean;
}

/** On whose behalf an endpoint is looked for: any client's, or that of this client alone; then others are not found. */
export interface EndpointsOf {
  readonly clientId?: string;
}

/** An endpoint, and the names of the events that it subscribes to, in alphabetical order. */
export interface SubscribedEndpoint {
  readonly endpoint: WebhookEndpoint;
  readonly events: readonly string[];
}

/** An endpoint whose secret was just made, which is shown this once. */
export interface EndpointWithSecret extends SubscribedEndpoint {
  readonly secret: string;
}

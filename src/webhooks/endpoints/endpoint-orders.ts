import type { WebhookEndpoint } from '../webhook-endpoint.entity.js';

/** A new endpoint. */
export interface NewEndpoint {
  readonly clientId: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly label?: string | null;
}

/** Changes to an endpoint; omitted fields stay as they are. */
export interface EndpointChanges {
  readonly url?: string;
  readonly events?: readonly string[];
  readonly label?: string | null;
  readonly enabled?: boolean;
}

/** The clients whose endpoints are accessible: all, or only this one, for which other endpoints do not exist. */
export interface EndpointsOf {
  readonly clientId?: string;
}

/** An endpoint, and the names of the events that it subscribes to, in alphabetical order. */
export interface SubscribedEndpoint {
  readonly endpoint: WebhookEndpoint;
  readonly events: readonly string[];
}

/** An endpoint with its new secret, which is not shown again. */
export interface EndpointWithSecret extends SubscribedEndpoint {
  readonly secret: string;
}

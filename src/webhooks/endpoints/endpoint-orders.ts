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

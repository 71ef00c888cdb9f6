/** What kind of actor made a change: an API key over HTTP, the command line, or the service by itself. */
export const ACTOR_KINDS = ['key', 'command_line', 'service'] as const;

/** Who made a change, and from where. */
export interface Actor {
  readonly kind: (typeof ACTOR_KINDS)[number];
  /** The API key that was sent; null for any other kind. */
  readonly keyId: string | null;
  /** Address of the caller, or user@host of the command line; null for the service itself. */
  readonly from: string | null;
  /** `X-Request-Id` of the request; null where there was none. */
  readonly requestId: string | null;
}

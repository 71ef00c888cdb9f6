/** A key was banned for a while, because it kept sending after 429. */
export interface ApiKeyBanned {
  readonly keyId: string;
  readonly clientId: string;
  /** ISO 8601 text in UTC. */
  readonly bannedUntil: string;
}

declare module '../events/domain-events.js' {
  interface DomainEventMap {
    'api_key.banned': ApiKeyBanned;
  }
}

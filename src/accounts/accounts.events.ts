/** A client was changed, or one of its keys. */
export interface AdministrationEvent {
  readonly clientId: string;
  readonly keyId?: string;
}

/** What can be changed of clients and keys; the audit trail has the same names. */
export type AdministrationEventName =
  | 'client.created'
  | 'client.updated'
  | 'client.suspended'
  | 'client.resumed'
  | 'client.deleted'
  | 'api_key.issued'
  | 'api_key.updated'
  | 'api_key.rotated'
  | 'api_key.revoked'
  | 'api_key.unbanned';

declare module '../events/domain-events.js' {
  interface DomainEventMap extends Record<AdministrationEventName, AdministrationEvent> {}
}

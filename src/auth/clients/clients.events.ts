import { defineEvent } from '../../events/domain-events.js';

/** A client that was changed, or one of whose keys was. */
export interface ClientChanged {
  readonly clientId: string;
  /** Absent when the client itself was changed. */
  readonly keyId?: string;
}

const changed = defineEvent<ClientChanged>;

/** What can be changed of clients and keys, by name; the audit trail has the same names. */
export const CLIENTS_EVENTS = {
  'client.created': changed('client.created'),
  'client.updated': changed('client.updated'),
  'client.suspended': changed('client.suspended'),
  'client.resumed': changed('client.resumed'),
  'client.deleted': changed('client.deleted'),
  'client.erased': changed('client.erased'),
  'api_key.issued': changed('api_key.issued'),
  'api_key.updated': changed('api_key.updated'),
  'api_key.rotated': changed('api_key.rotated'),
  'api_key.revoked': changed('api_key.revoked'),
  'api_key.unbanned': changed('api_key.unbanned'),
} as const;

/** Name of an event of clients and keys. */
export type ClientsEventName = keyof typeof CLIENTS_EVENTS;

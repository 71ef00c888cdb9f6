import { defineEvent } from '../../events/domain-events.js';

/** A client that was changed, or whose key was changed. */
export interface ClientChanged {
  readonly clientId: string;
  /** Absent if the client itself was changed. */
  readonly keyId?: string;
}

const changed = defineEvent<ClientChanged>;

/** Changes to clients and keys. The audit trail uses the same names. */
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

export type ClientsEventName = keyof typeof CLIENTS_EVENTS;

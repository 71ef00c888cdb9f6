import type { Actor } from '../audit/audit-entry.entity.js';

/** Who changes clients and keys. */
export interface Operator extends Actor {
  /** The scopes that it may grant: a key over HTTP only those that it holds itself, the command line all. */
  readonly scopes: readonly string[] | 'all';
}

/** The service itself, which makes a client and a key at its first start. */
export const SERVICE_ITSELF: Operator = {
  kind: 'service',
  keyId: null,
  from: null,
  requestId: null,
  scopes: 'all',
};

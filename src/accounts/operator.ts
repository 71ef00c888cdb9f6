import type { Actor } from '../audit/audit-entry.entity.js';

/** Who orders a change of clients and keys. */
export interface Operator extends Actor {
  /** What it may hand on to a key: a key over HTTP no more than it holds itself, the command line everything. */
  readonly scopes: readonly string[] | 'all';
}

/** The service itself, as at its first start. */
export const SERVICE_ITSELF: Operator = {
  kind: 'service',
  keyId: null,
  from: null,
  requestId: null,
  scopes: 'all',
};

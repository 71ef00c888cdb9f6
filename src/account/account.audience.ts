import type { Caller } from '../auth/caller.js';
import { CLIENTS_ERRORS } from '../auth/clients/clients.errors.js';
import { CHALLENGE, defineScope } from '../auth/scopes.js';
import { ApiError } from '../core/errors/api-error.js';
import type { Audience } from '../http/declarations/audience.js';
import type { UncountedBound } from '../core/declared-operation.js';

/** The scope for managing the keys and webhooks of the caller's client; it belongs to no feature, so its name has one word. No key gets it unless it is named. */
const ACCOUNT_SCOPE = defineScope(
  'account',
  "Issue, rotate and revoke the client's keys, and manage its webhooks, over HTTP.",
  { grantedByDefault: false },
);

/** The client of a caller, and the key that was sent. Throws no_account for a credential that is not an API key: its user belongs to no client. */
export function accountHolderOf(caller: Caller | undefined): {
  readonly clientId: string;
  readonly keyId: string;
} {
  if (caller === undefined || caller.keyId === null)
    throw new ApiError(CLIENTS_ERRORS.no_account, { headers: { 'WWW-Authenticate': CHALLENGE } });
  return { clientId: caller.clientId, keyId: caller.keyId };
}

/** Key holders, each for its client. */
const HOLDERS: Audience = { prefix: 'account', scope: ACCOUNT_SCOPE, holderOf: accountHolderOf };

/** How often a client may read its account and usage, all its keys together. */
export const READ_BOUND: UncountedBound = {
  name: 'account',
  perMinute: 60,
  per: 'client',
  what: 'to read the account',
};

/** Reads per minute of each key, and of all keys of a client, so that more keys do not allow more of them. */
const SHARED = { perMinute: 30, per: 'key', perClient: 60 } as const;
/**
 * Changes per minute of each key. A limit per client would let a leaked key use it up and keep the client from revoking that key with
 * another one. The number of changes of a client per day is limited separately.
 */
const PER_KEY = { perMinute: 30, per: 'key' } as const;

/** How often keys may be listed and shown. */
const KEY_READS: UncountedBound = { name: 'account-keys', ...SHARED, what: 'for keys of the account' };

/** How often keys may be changed. */
const KEY_CHANGES: UncountedBound = {
  name: 'account-key-changes',
  ...PER_KEY,
  what: 'to change keys of the account',
};

/** The same for operations that create a key: a banned key must not create one that is not banned. */
export const NEW_KEYS_BOUND: UncountedBound = { ...KEY_CHANGES, refusesBanned: true };

/** Limit of requests that list or show webhook endpoints and deliveries or send messages; it also applies to a banned key. */
const WEBHOOK_READS: UncountedBound = {
  name: 'account-webhooks',
  ...SHARED,
  what: 'for webhooks of the account',
};

/** How often webhook endpoints may be changed. */
const WEBHOOK_CHANGES: UncountedBound = {
  name: 'account-webhook-changes',
  ...PER_KEY,
  what: 'to change webhooks of the account',
};

export const HOLDERS_OF_KEYS: Audience = { ...HOLDERS, uncounted: KEY_CHANGES, uncountedReads: KEY_READS };
export const HOLDERS_OF_WEBHOOKS: Audience = {
  ...HOLDERS,
  uncounted: WEBHOOK_CHANGES,
  uncountedReads: WEBHOOK_READS,
};
export const HOLDERS_OF_DELIVERIES: Audience = { ...HOLDERS, uncounted: WEBHOOK_READS };

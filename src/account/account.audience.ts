import type { Caller } from '../auth/caller.js';
import { CLIENTS_ERRORS } from '../auth/clients/clients.errors.js';
import { CHALLENGE } from '../core/errors/challenge.js';
import { defineScope } from '../auth/scopes.js';
import { ApiError } from '../core/errors/api-error.js';
import type { Audience } from '../http/declarations/audience.js';
import type { OperationLimit } from '../core/declared-operation.js';

/**
 * The scope for managing the keys and webhooks of the caller's own client. It belongs to no feature, so its name is a single word. A key
 * gets it only if it is requested.
 */
const ACCOUNT_SCOPE = defineScope(
  'account',
  "Issue, rotate and revoke the client's keys, and manage its webhooks, over HTTP.",
  { grantedByDefault: false },
);

/**
 * The client of a caller, and the key that was sent. Throws no_account for a credential other than an API key, because its user does not
 * belong to a client.
 */
export function accountHolderOf(caller: Caller | undefined): {
  readonly clientId: string;
  readonly keyId: string;
} {
  if (caller === undefined || caller.keyId === null)
    throw new ApiError(CLIENTS_ERRORS.no_account, { headers: { 'WWW-Authenticate': CHALLENGE } });
  return { clientId: caller.clientId, keyId: caller.keyId };
}

/** Key holders, each limited to its own client. */
const HOLDERS: Audience = { prefix: 'account', scope: ACCOUNT_SCOPE, holderOf: accountHolderOf };

/** Limit for reading account and usage, shared by all keys of a client. */
export const READ_LIMIT: OperationLimit = {
  name: 'account',
  perMinute: 60,
  per: 'client',
  what: 'for reading the account',
};

/** Reads per minute of each key, and of all keys of a client, so that more keys do not allow more reads. */
const SHARED = { perMinute: 30, per: 'key', perClient: 60 } as const;
/**
 * Changes per minute of each key. With a limit per client, a leaked key could use it up and prevent the client from revoking it with
 * another key. Changes per client and day have a separate limit.
 */
const PER_KEY = { perMinute: 30, per: 'key' } as const;

/** Limit for listing and retrieving keys. */
const KEY_READS: OperationLimit = {
  name: 'account-keys',
  ...SHARED,
  what: 'for reading keys of the account',
};

/** Limit for changing keys. */
const KEY_CHANGES: OperationLimit = {
  name: 'account-key-changes',
  ...PER_KEY,
  what: 'for changing keys of the account',
};

/** The same for operations that create a key, because a banned key must not create a key that is not banned. */
export const NEW_KEYS_LIMIT: OperationLimit = { ...KEY_CHANGES, refusesBanned: true };

/** Limit for reading webhook endpoints and deliveries and sending messages, which a banned key may do as well. */
const WEBHOOK_READS: OperationLimit = {
  name: 'account-webhooks',
  ...SHARED,
  what: 'for reading and testing webhooks of the account',
};

/** Limit for changing webhook endpoints. */
const WEBHOOK_CHANGES: OperationLimit = {
  name: 'account-webhook-changes',
  ...PER_KEY,
  what: 'for changing webhooks of the account',
};

export const HOLDERS_OF_KEYS: Audience = { ...HOLDERS, uncounted: KEY_CHANGES, uncountedReads: KEY_READS };
export const HOLDERS_OF_WEBHOOKS: Audience = {
  ...HOLDERS,
  uncounted: WEBHOOK_CHANGES,
  uncountedReads: WEBHOOK_READS,
};
export const HOLDERS_OF_DELIVERIES: Audience = { ...HOLDERS, uncounted: WEBHOOK_READS };

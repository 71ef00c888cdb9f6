import type { Caller } from '../auth/caller.js';
import { CLIENTS_ERRORS } from '../auth/clients/clients.errors.js';
import { CHALLENGE, defineScope } from '../auth/clients/scopes.js';
import { ApiError } from '../core/errors/api-error.js';
import type { Audience } from '../http/audience.js';
import type { UncountedBound } from '../throttling/uncounted.decorator.js';

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

/**
 * How often a key may list and order keys. For each key, so that a leaked key that keeps the bound of its client used up cannot
 * stop the client from revoking it with another.
 */
const KEYS_BOUND: UncountedBound = {
  name: 'account-keys',
  perMinute: 30,
  per: 'key',
  what: 'on keys of the account',
};

/** The same for what makes a key: a banned one would have itself followed by one that is not. */
export const NEW_KEYS_BOUND: UncountedBound = { ...KEYS_BOUND, refusesBanned: true };

/** How often a key may list, order and test webhook endpoints. For each key, as with keys; a banned one may, too. */
const WEBHOOKS_BOUND: UncountedBound = {
  name: 'account-webhooks',
  perMinute: 30,
  per: 'key',
  what: 'on webhooks of the account',
};

export const HOLDERS_OF_KEYS: Audience = { ...HOLDERS, uncounted: KEYS_BOUND };
export const HOLDERS_OF_WEBHOOKS: Audience = { ...HOLDERS, uncounted: WEBHOOKS_BOUND };

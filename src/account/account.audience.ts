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
 * How often a key may list and change keys. Per key, because with a limit per client a leaked key that uses it up could
 * keep the client from revoking it with another key.
 */
const KEYS_BOUND: UncountedBound = {
  name: 'account-keys',
  perMinute: 30,
  per: 'key',
  what: 'on keys of the account',
};

/** The same for operations that create a key: a banned key must not create one that is not banned. */
export const NEW_KEYS_BOUND: UncountedBound = { ...KEYS_BOUND, refusesBanned: true };

/** How often a key may list, change and test webhook endpoints. Per key, as for keys; a banned key may, too. */
const WEBHOOKS_BOUND: UncountedBound = {
  name: 'account-webhooks',
  perMinute: 30,
  per: 'key',
  what: 'on webhooks of the account',
};

export const HOLDERS_OF_KEYS: Audience = { ...HOLDERS, uncounted: KEYS_BOUND };
export const HOLDERS_OF_WEBHOOKS: Audience = { ...HOLDERS, uncounted: WEBHOOKS_BOUND };

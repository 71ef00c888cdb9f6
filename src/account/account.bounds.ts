import type { UncountedBound } from '../throttling/uncounted.decorator.js';

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
export const KEYS_BOUND: UncountedBound = {
  name: 'account-keys',
  perMinute: 30,
  per: 'key',
  what: 'on keys of the account',
};

/** The same for what makes a key: a banned one would have itself followed by one that is not. */
export const NEW_KEYS_BOUND: UncountedBound = { ...KEYS_BOUND, refusesBanned: true };

/** How often a key may list, order and test webhook endpoints. For each key, as with keys; a banned one may, too. */
export const WEBHOOKS_BOUND: UncountedBound = {
  name: 'account-webhooks',
  perMinute: 30,
  per: 'key',
  what: 'on webhooks of the account',
};

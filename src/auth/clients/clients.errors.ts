import { defineErrors } from '../../core/errors/define-errors.js';

/** Ids and an instant as answers have them, for examples. */
const CLIENT = '5f0c3f0e-8a35-4c59-9c1d-0d6b1f2f7a11';
const KEY = '0b9f4a52-6c1f-4c0e-b1de-3a4f8f2f6c77';
const SUCCESSOR = 'c2a1d7b4-1e55-4f8a-9a30-7d2e9b6c4f02';
const INSTANT = '2026-11-20T12:00:00.000Z';

/** Errors of the administration of clients and keys, the same over HTTP and on the command line. */
export const CLIENTS_ERRORS = defineErrors({
  client_not_found: {
    status: 404,
    message: 'There is no client {id}.',
    example: { id: CLIENT },
    cause: 'No client has this id; it may have been deleted.',
    remedy: 'List the clients: `petstore client list` or `GET /admin/clients`.',
  },
  client_already_suspended: {
    status: 409,
    message: 'The client {id} was suspended at {instant} already.',
    example: { id: CLIENT, instant: INSTANT },
    cause: 'A suspended client cannot be suspended again.',
    remedy: 'Nothing is left to do.',
  },
  client_not_suspended: {
    status: 409,
    message: 'The client {id} is not suspended.',
    example: { id: CLIENT },
    cause: 'Only a suspended client can be resumed.',
    remedy: 'Nothing is left to do.',
  },
  key_not_found: {
    status: 404,
    message: 'There is no key {id}.',
    example: { id: KEY },
    cause:
      'No key has this id; its client may have been deleted. Under `/account` keys of other clients are not found either.',
    remedy: 'List the keys: `petstore key list`, `GET /admin/keys`, or `GET /account/keys` for your own.',
  },
  key_already_revoked: {
    status: 409,
    message: 'The key {id} was revoked at {instant}.',
    example: { id: KEY, instant: INSTANT },
    cause: 'A revoked key stays as it is.',
    remedy: 'Issue a new key: `petstore key issue`, `POST /admin/keys` or `POST /account/keys`.',
  },
  key_already_expired: {
    status: 409,
    message: 'The key {id} expired at {instant}.',
    example: { id: KEY, instant: INSTANT },
    cause: 'An expired key can neither be rotated nor be given another expiry.',
    remedy: 'Issue a new key: `petstore key issue`, `POST /admin/keys` or `POST /account/keys`.',
  },
  key_already_rotated: {
    status: 409,
    message: 'The key {id} was rotated already; the key {successor} follows it.',
    example: { id: KEY, successor: SUCCESSOR },
    cause: 'A key is rotated once; its successor can be rotated in turn.',
    remedy:
      'Rotate its successor. To end this one before its grace is over: `petstore key revoke`, ' +
      '`POST /admin/keys/{keyId}/revoke` or `POST /account/keys/{keyId}/revoke`.',
  },
  last_key_with_scope: {
    status: 409,
    message:
      'Nothing would be left that works with the scope {scope}; issue another key with it first, or force this.',
    example: { scope: 'admin' },
    cause: 'The last working key with the scope `admin` would end, and with it administration over HTTP.',
    remedy: 'Issue another key with the scope first, or repeat with `--force` (over HTTP: `?force=true`).',
  },
  scope_not_held: {
    status: 403,
    message: 'A key cannot pass on scopes that it does not have: {scopes}.',
    example: { scopes: 'pets:write' },
    cause:
      'The key that orders a new key lacks one of its scopes, or, where the order names none, all that keys get by default.',
    remedy: 'Name fewer `scopes`, or use a key that holds them all, or the command line.',
  },
  key_limit_reached: {
    status: 409,
    message: 'The client has {count} keys that work; self-service makes no more beyond {limit}.',
    example: { count: 100, limit: 100 },
    cause:
      'Self-service issues keys up to `ACCOUNT_MAX_KEYS` that work at the same time, and rotates up to twice as many, so that a ' +
      'leaked key cannot fill the database.',
    remedy: 'Revoke keys that nobody uses: `POST /account/keys/{keyId}/revoke`. An operator can issue more.',
  },
  new_key_limit_reached: {
    status: 409,
    message:
      'The client got {count} new keys within 24 hours; self-service makes no more than {limit} in that time.',
    example: { count: 100, limit: 100 },
    cause:
      'Self-service makes at most `ACCOUNT_MAX_KEYS` new keys in 24 hours, issued or by rotation; revoked ones count too.',
    remedy: 'Make the rest tomorrow, or ask an operator. Revoke what you did not order.',
  },
  key_change_limit_reached: {
    status: 409,
    message:
      'The client and its keys were changed {limit} times within 24 hours; self-service changes no more in that time.',
    example: { limit: 1_000 },
    cause: 'Each change adds an audit entry; this limits what a leaked key can write.',
    remedy: 'Change it tomorrow, or ask an operator. Revoking is still possible.',
  },
  key_protected: {
    status: 403,
    message: 'The key {id} has the scope {scope}, which is administered by operators alone.',
    example: { id: KEY, scope: 'admin' },
    cause:
      'Self-service neither issues, nor changes, rotates or revokes keys with a protected scope such as `admin`.',
    remedy: 'Use `/admin` or the command line.',
  },
  scope_protected: {
    status: 403,
    message: 'Self-service never passes on {scopes}.',
    example: { scopes: 'admin' },
    cause: 'A protected scope such as `admin` was requested under `/account`.',
    remedy: 'Name other `scopes`, or use `/admin` or the command line.',
  },
  no_account: {
    status: 403,
    message: 'Only an API key has an account; another credential was sent.',
    cause: 'A user of another credential belongs to no client of this service.',
    remedy: 'Send an API key.',
  },
});

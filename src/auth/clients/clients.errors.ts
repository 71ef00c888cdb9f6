import { defineErrors } from '../../core/errors/define-errors.js';

/** Ids and an instant for examples. */
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
    command: 'List the clients: `petstore client list`.',
  },
  client_not_deleted: {
    status: 409,
    message: 'The client {id} is not deleted.',
    example: { id: CLIENT },
    cause:
      'Only the audit trail of a deleted client can be made anonymous: the names of other clients stay in it.',
    remedy: 'Delete the client first: `petstore client delete` or `DELETE /admin/clients/{clientId}`.',
    command: 'Delete the client first: `petstore client delete`.',
  },
  client_already_suspended: {
    status: 409,
    message: 'The client {id} was already suspended at {instant}.',
    example: { id: CLIENT, instant: INSTANT },
    cause: 'A suspended client cannot be suspended again.',
    remedy: 'No action is needed.',
  },
  client_not_suspended: {
    status: 409,
    message: 'The client {id} is not suspended.',
    example: { id: CLIENT },
    cause: 'Only a suspended client can be resumed.',
    remedy: 'No action is needed.',
  },
  key_not_found: {
    status: 404,
    message: 'There is no key {id}.',
    example: { id: KEY },
    cause:
      'No key has this id; its client may have been deleted. Under `/account` keys of other clients are not found either.',
    remedy: 'List the keys: `petstore key list`, `GET /admin/keys`, or `GET /account/keys` for your own.',
    command: 'List the keys: `petstore key list`.',
  },
  key_already_revoked: {
    status: 409,
    message: 'The key {id} was revoked at {instant}.',
    example: { id: KEY, instant: INSTANT },
    cause: 'A revoked key stays as it is.',
    remedy: 'Issue a new key: `petstore key issue`, `POST /admin/keys` or `POST /account/keys`.',
    command: 'Issue a new key: `petstore key issue`.',
  },
  key_already_expired: {
    status: 409,
    message: 'The key {id} expired at {instant}.',
    example: { id: KEY, instant: INSTANT },
    cause: 'An expired key cannot be rotated or given another expiry.',
    remedy: 'Issue a new key: `petstore key issue`, `POST /admin/keys` or `POST /account/keys`.',
    command: 'Issue a new key: `petstore key issue`.',
  },
  key_already_rotated: {
    status: 409,
    message: 'The key {id} was already rotated; its successor is the key {successor}.',
    example: { id: KEY, successor: SUCCESSOR },
    cause: 'A key can be rotated only once. Its successor can be rotated.',
    remedy:
      'Rotate its successor. To end this one before its grace is over: `petstore key revoke`, ' +
      '`POST /admin/keys/{keyId}/revoke` or `POST /account/keys/{keyId}/revoke`.',
    command: 'Rotate its successor. To end this one before its grace is over: `petstore key revoke`.',
  },
  last_key_with_scope: {
    status: 409,
    message:
      'No working key with the scope {scope} would remain; issue another one first, or force this change.',
    example: { scope: 'admin' },
    cause: 'The last working key with the scope `admin` would end, and with it administration over HTTP.',
    remedy: 'Issue another key with the scope first, or repeat with `--force` (over HTTP: `?force=true`).',
    command: 'Issue another key with the scope first, or repeat with `--force`.',
  },
  scope_not_held: {
    status: 403,
    message: 'A key cannot pass on scopes that it does not have: {scopes}.',
    example: { scopes: 'account' },
    cause:
      'The sending key lacks one of the scopes of the new key, or, if the request names none, all default scopes.',
    remedy: 'Name fewer `scopes`, use a key that has all of them, or use the command line.',
    command: 'Name fewer `--scopes`, or use a key that has all of them.',
  },
  key_limit_reached: {
    status: 409,
    message: 'The client has {count} working keys; self-service creates at most {limit}.',
    example: { count: 100, limit: 100 },
    cause:
      'Self-service issues keys up to `ACCOUNT_MAX_KEYS` working ones, and rotates up to twice as many, so that a ' +
      'leaked key cannot fill the database.',
    remedy: 'Revoke keys that nobody uses: `POST /account/keys/{keyId}/revoke`. An operator can issue more.',
    command: 'Revoke keys that nobody uses: `petstore key revoke`.',
  },
  new_key_limit_reached: {
    status: 409,
    message:
      'The client got {count} new keys within 24 hours; self-service creates at most {limit} in that time.',
    example: { count: 100, limit: 100 },
    cause:
      'Self-service creates at most `ACCOUNT_MAX_KEYS` new keys in 24 hours, by issuing or rotating; revoked ones count too.',
    remedy: 'Create the rest tomorrow, or ask an operator. Revoke keys that you did not create.',
  },
  key_change_limit_reached: {
    status: 409,
    message:
      'The client and its keys were changed {limit} times within 24 hours; self-service changes no more in that time.',
    example: { limit: 1_000 },
    cause: 'Each change adds an audit entry; this limits what a leaked key can write.',
    remedy: 'Make the change tomorrow, or ask an operator. Revoking is still possible.',
  },
  key_protected: {
    status: 403,
    message: 'The key {id} has the scope {scope}, which only operators administer.',
    example: { id: KEY, scope: 'admin' },
    cause:
      'Self-service does not issue, change, rotate or revoke keys with a protected scope such as `admin`.',
    remedy: 'Use `/admin` or the command line.',
  },
  scope_protected: {
    status: 403,
    message: 'Self-service never passes on {scopes}.',
    example: { scopes: 'admin' },
    cause: 'A protected scope such as `admin` was requested under `/account`.',
    remedy: 'Name other `scopes`, or use `/admin` or the command line.',
    command: 'Name other `--scopes`.',
  },
  no_account: {
    status: 403,
    message: 'Only an API key has an account; another credential was sent.',
    cause: 'A user of another credential belongs to no client of this service.',
    remedy: 'Send an API key.',
  },
});

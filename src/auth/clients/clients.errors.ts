import { defineErrors } from '../../core/errors/define-errors.js';

/** Sample values. */
const CLIENT = '5f0c3f0e-8a35-4c59-9c1d-0d6b1f2f7a11';
const KEY = '0b9f4a52-6c1f-4c0e-b1de-3a4f8f2f6c77';
const SUCCESSOR = 'c2a1d7b4-1e55-4f8a-9a30-7d2e9b6c4f02';
const INSTANT = '2026-11-20T12:00:00.000Z';

/** Errors of client and key administration, over HTTP and on the command line. */
export const CLIENTS_ERRORS = defineErrors({
  client_not_found: {
    status: 404,
    message: 'There is no client {id}.',
    example: { id: CLIENT },
    cause: 'No client has this id. It may have been deleted.',
    remedy: 'List the clients: `petstore client list` or `GET /admin/clients`.',
    command: 'List the clients: `petstore client list`.',
  },
  client_not_deleted: {
    status: 409,
    message: 'The client {id} has not been deleted.',
    example: { id: CLIENT },
    cause: 'Names can be erased from the audit trail only after the client has been deleted.',
    remedy: 'Delete the client first: `petstore client delete` or `DELETE /admin/clients/{clientId}`.',
    command: 'Delete the client first: `petstore client delete`.',
  },
  client_already_suspended: {
    status: 409,
    message: 'The client {id} has been suspended since {instant}.',
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
      'No key has this id. Its client may have been deleted, or, under `/account`, it may belong to another client.',
    remedy: 'List the keys: `petstore key list`, `GET /admin/keys`, or `GET /account/keys` for your own.',
    command: 'List the keys: `petstore key list`.',
  },
  key_already_revoked: {
    status: 409,
    message: 'The key {id} was revoked at {instant}.',
    example: { id: KEY, instant: INSTANT },
    cause: 'A revoked key cannot be changed.',
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
    message: 'The key {id} was already rotated; its successor is {successor}.',
    example: { id: KEY, successor: SUCCESSOR },
    cause: 'A key can be rotated only once.',
    remedy:
      'Rotate its successor. To invalidate this key before the end of its grace period, revoke it: `petstore key revoke`, ' +
      '`POST /admin/keys/{keyId}/revoke` or `POST /account/keys/{keyId}/revoke`.',
    command:
      'Rotate its successor. To invalidate this key before the end of its grace period, revoke it: `petstore key revoke`.',
  },
  last_key_with_scope: {
    status: 409,
    message: 'No working key with the scope {scope} would remain.',
    example: { scope: 'admin' },
    cause:
      'Without a working key with the scope `admin`, administration over HTTP would no longer be possible.',
    remedy:
      'To replace a key, rotate it. Otherwise, issue another key with the scope first, or repeat the change with `--force` (over HTTP: `?force=true`).',
    command:
      'To replace a key, rotate it. Otherwise, issue another key with the scope first, or repeat the command with `--force`.',
  },
  scope_not_held: {
    status: 403,
    message: 'A key cannot grant scopes that it does not have: {scopes}.',
    example: { scopes: 'account' },
    cause:
      'The calling key lacks one of the requested scopes, or, if the request names no scopes, all default scopes.',
    remedy: 'Request fewer `scopes`, use a key that has all of them, or use the command line.',
    command: 'Request fewer `--scopes`, or use a key that has all of them.',
  },
  key_limit_reached: {
    status: 409,
    message: 'The client has {count} working keys; the maximum for self-service is {limit}.',
    example: { count: 100, limit: 100 },
    cause:
      'A client can issue keys while it has fewer than `ACCOUNT_MAX_KEYS` working keys, and rotate keys while it has fewer than twice that ' +
      'number. These limits prevent a leaked key from filling the database.',
    remedy: 'Revoke unused keys (`POST /account/keys/{keyId}/revoke`), or ask an operator to issue more.',
    command: 'Revoke unused keys: `petstore key revoke`.',
  },
  new_key_limit_reached: {
    status: 409,
    message:
      '{count} keys have been created for this client in the last 24 hours; the maximum for self-service is {limit}.',
    example: { count: 100, limit: 100 },
    cause:
      'A client can create up to `ACCOUNT_MAX_KEYS` keys in 24 hours by issuing and rotating keys, including keys that were revoked since then.',
    remedy: 'Try again tomorrow, or ask an operator. Revoke any keys that you did not create.',
  },
  key_change_limit_reached: {
    status: 409,
    message:
      'This client and its keys have been changed {limit} times in the last 24 hours, the maximum for self-service.',
    example: { limit: 1_000 },
    cause: 'Each change adds an audit entry. The limit prevents a leaked key from filling the database.',
    remedy: 'Try again tomorrow, or ask an operator. You can still revoke keys.',
  },
  key_protected: {
    status: 403,
    message: 'The key {id} has the scope {scope}; only operators can manage it.',
    example: { id: KEY, scope: 'admin' },
    cause:
      'Self-service does not issue, change, rotate or revoke keys with a protected scope such as `admin`.',
    remedy: 'Use `/admin` or the command line.',
  },
  scope_protected: {
    status: 403,
    message: 'Self-service cannot grant {scopes}.',
    example: { scopes: 'admin' },
    cause: 'The request under `/account` names a protected scope such as `admin`.',
    remedy: 'Request other `scopes`, or use `/admin` or the command line.',
    command: 'Request other `--scopes`.',
  },
  no_account: {
    status: 403,
    message: 'This operation requires an API key; another kind of credential was sent.',
    cause: 'Only API keys belong to a client, and thus to an account.',
    remedy: 'Send an API key.',
  },
});

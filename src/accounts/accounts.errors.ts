import { defineErrors } from '../errors/define-errors.js';

/** Errors of the administration of clients and keys, the same over HTTP and on the command line. */
export const ACCOUNTS_ERRORS = defineErrors({
  client_not_found: {
    status: 404,
    message: 'There is no client {id}.',
    cause: 'No client has this id; it may have been deleted.',
    remedy: 'List the clients: `petstore client list` or `GET /admin/clients`.',
  },
  client_already_suspended: {
    status: 409,
    message: 'The client {id} was suspended at {instant} already.',
    cause: 'A suspended client cannot be suspended again.',
    remedy: 'Nothing is left to do.',
  },
  client_not_suspended: {
    status: 409,
    message: 'The client {id} is not suspended.',
    cause: 'Only a suspended client can be resumed.',
    remedy: 'Nothing is left to do.',
  },
  key_not_found: {
    status: 404,
    message: 'There is no key {id}.',
    cause: 'No key has this id; its client may have been deleted.',
    remedy: 'List the keys: `petstore key list` or `GET /admin/keys`.',
  },
  key_already_revoked: {
    status: 409,
    message: 'The key {id} was revoked at {instant}.',
    cause: 'A revoked key stays as it is.',
    remedy: 'Issue a new key: `petstore key issue` or `POST /admin/keys`.',
  },
  key_already_expired: {
    status: 409,
    message: 'The key {id} expired at {instant}.',
    cause: 'An expired key can neither be rotated nor be given another expiry.',
    remedy: 'Issue a new key: `petstore key issue` or `POST /admin/keys`.',
  },
  key_already_rotated: {
    status: 409,
    message: 'The key {id} was rotated already; the key {successor} follows it.',
    cause: 'A key is rotated once; what follows it can be rotated in turn.',
    remedy: 'Rotate the key that follows it.',
  },
  last_key_with_scope: {
    status: 409,
    message:
      'Nothing would be left that works with the scope {scope}; issue another key with it first, or force this.',
    cause: 'The last working key with the scope `admin` would end, and with it administration over HTTP.',
    remedy: 'Issue another key with the scope first, or repeat with `--force` (over HTTP: `?force=true`).',
  },
  scope_not_held: {
    status: 403,
    message: 'A key cannot hand on what it does not hold itself: {scopes}.',
    cause:
      'The key that orders a new key lacks one of its scopes, or, where the order names none, all that keys get by default.',
    remedy: 'Name fewer `scopes`, or use a key that holds them all, or the command line.',
  },
});

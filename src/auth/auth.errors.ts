import { KEY_ERRORS } from './clients/key-refusals.js';
import { defineErrors } from '../core/errors/define-errors.js';

const CREDENTIAL_ERRORS = defineErrors({
  missing_api_key: {
    status: 401,
    message: 'Send an API key as `Authorization: Bearer <API_KEY>`.',
    cause: 'The request contains no bearer credential.',
    remedy: 'Send the header `Authorization: Bearer <API_KEY>`.',
    command: 'Pass a key with `--key -` or PETSTORE_KEY.',
  },
  invalid_api_key: {
    status: 401,
    message: 'The API key is not valid.',
    cause:
      'The credential is not a key of this service. It may be mistyped, truncated, for another environment, or not a bearer token.',
    remedy: 'Compare it with the key that was issued, or ask for a new key.',
  },
  insufficient_scope: {
    status: 403,
    message: 'This operation requires a key with the scope {scope}.',
    example: { scope: 'account' },
    cause:
      'The key is valid, but does not have the scope that the operation requires. The request counts toward the quota.',
    remedy: 'Use a key with this scope, or ask for one.',
  },
});

/** Refusals of the credential of a request. */
export const AUTH_ERRORS = { ...CREDENTIAL_ERRORS, ...KEY_ERRORS };

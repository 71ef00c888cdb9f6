import { defineErrors } from '../errors/define-errors.js';

export const AUTH_ERRORS = defineErrors({
  missing_api_key: {
    status: 401,
    message: 'Send an API key as `Authorization: Bearer <API_KEY>`.',
    cause: 'The request has no bearer credential.',
    remedy: 'Send the header `Authorization: Bearer <API_KEY>`.',
  },
  invalid_api_key: {
    status: 401,
    message: 'The API key is not valid.',
    cause:
      'The credential is not a key of this service: mistyped, cut short, of another environment, or not a bearer token.',
    remedy: 'Compare the key with the one that was issued, or have a new one issued.',
  },
  expired_api_key: {
    status: 401,
    message: 'The API key expired at {instant}.',
    cause: 'The key is genuine, but its expiry has passed.',
    remedy: 'Have a new key issued.',
  },
  revoked_api_key: {
    status: 401,
    message: 'The API key was revoked.',
    cause: 'The key is genuine, but it was revoked.',
    remedy: 'Have a new key issued.',
  },
  client_suspended: {
    status: 403,
    message: 'The client of this API key is suspended.',
    cause: 'The key is valid, but an operator has suspended the client that it belongs to.',
    remedy: 'Ask the operator of the service to resume the client.',
  },
  insufficient_scope: {
    status: 403,
    message: 'This operation needs a key with the scope {scope}.',
    cause: 'The key is valid, but does not hold the scope that the operation needs. The request has counted.',
    remedy: 'Use a key that holds the scope, or have one issued.',
  },
});

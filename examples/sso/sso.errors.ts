import { defineErrors } from 'petstore-service';

export const SSO_ERRORS = defineErrors({
  invalid_token: {
    status: 401,
    message: 'The token is not valid.',
    cause:
      'The token is malformed, was not signed by the issuer, is not valid yet, or is for another audience.',
    remedy: 'Sign in again.',
  },
  expired_token: {
    status: 401,
    message: 'The token has expired.',
    cause: 'The token is genuine, but its expiry has passed.',
    remedy: 'Renew the token, or sign in again.',
  },
});

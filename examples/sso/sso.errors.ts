import { defineErrors } from 'petstore-service';

export const SSO_ERRORS = defineErrors({
  invalid_token: {
    status: 401,
    message: 'The token is not valid.',
    cause: 'The token was not signed by the issuer, is malformed, not valid yet, or for another audience.',
    remedy: 'Sign in again.',
  },
  expired_token: {
    status: 401,
    message: 'The token has expired.',
    cause: 'The token is genuine, but its expiry has passed.',
    remedy: 'Have the token renewed, or sign in again.',
  },
});

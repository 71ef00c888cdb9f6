import { defineScope } from '../auth/clients/scopes.js';

/** The right to order keys and webhooks for the own client; not a right of a feature, so its name has one word. No key gets it unless it is named. */
export const ACCOUNT_SCOPE = defineScope(
  'account',
  'Issue, rotate and revoke keys, and order webhooks, of the own client, over HTTP.',
  {
    grantedByDefault: false,
  },
);

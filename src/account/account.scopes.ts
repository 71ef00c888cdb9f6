import { defineScope } from '../auth/clients/scopes.js';

/** The scope for managing the keys and webhooks of the caller's client; it belongs to no feature, so its name has one word. No key gets it unless it is named. */
export const ACCOUNT_SCOPE = defineScope(
  'account',
  "Issue, rotate and revoke the client's keys, and manage its webhooks, over HTTP.",
  {
    grantedByDefault: false,
  },
);

import { defineScope } from '../auth/clients/scopes.js';

/** The right to administer; not a right of a feature, so its name has one word. */
export const ADMIN_SCOPE = defineScope(
  'admin',
  'Administer clients, keys and webhooks, and read the audit trail, over HTTP.',
  { grantedByDefault: false, lastKeyProtected: true },
);

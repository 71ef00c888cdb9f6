import { defineScope } from '../auth/clients/scopes.js';
import type { Audience } from '../http/audience.js';

/** The right to see what operators see. */
export const ADMIN_READ_SCOPE = defineScope(
  'admin:read',
  'Read clients, keys, webhooks, usage and the audit trail over HTTP.',
  { grantedByDefault: false },
);

/** The right to administer; not a right of a feature, so its name has one word. */
export const ADMIN_SCOPE = defineScope(
  'admin',
  'Administer clients, keys and webhooks, and read the audit trail, over HTTP.',
  { grantedByDefault: false, lastKeyProtected: true, includes: [ADMIN_READ_SCOPE] },
);

/** Who manages what belongs to all clients. */
export const OPERATORS: Audience = { prefix: 'admin', scope: ADMIN_SCOPE, readScope: ADMIN_READ_SCOPE };

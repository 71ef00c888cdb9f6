import { defineScope } from '../auth/scopes.js';
import type { Audience } from '../http/declarations/audience.js';

/** The permission to read what operators read. */
export const ADMIN_READ_SCOPE = defineScope(
  'admin:read',
  'Read clients, keys, webhooks, usage and the audit trail over HTTP.',
  { grantedByDefault: false },
);

/** The permission to administer; it belongs to no feature, so its name has one word. */
export const ADMIN_SCOPE = defineScope(
  'admin',
  'Administer clients, keys and webhooks, and read the audit trail, over HTTP.',
  { grantedByDefault: false, lastKeyProtected: true, includes: [ADMIN_READ_SCOPE] },
);

/** Operators, for all clients. */
export const OPERATORS: Audience = { prefix: 'admin', scope: ADMIN_SCOPE, readScope: ADMIN_READ_SCOPE };

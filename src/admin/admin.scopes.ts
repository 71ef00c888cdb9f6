import { defineScope } from '../auth/scopes.js';
import type { Audience } from '../http/declarations/audience.js';

/** Permission to read everything that operators can read. */
export const ADMIN_READ_SCOPE = defineScope(
  'admin:read',
  'Read clients, keys, webhooks, usage and the audit trail over HTTP.',
  { grantedByDefault: false },
);

/** Permission to administer. It belongs to no feature, so its name is a single word. */
export const ADMIN_SCOPE = defineScope(
  'admin',
  'Administer clients, keys and webhooks, and read the audit trail, over HTTP.',
  { grantedByDefault: false, lastKeyProtected: true, includes: [ADMIN_READ_SCOPE] },
);

/** Operators, for all clients. */
export const OPERATORS: Audience = { prefix: 'admin', scope: ADMIN_SCOPE, readScope: ADMIN_READ_SCOPE };

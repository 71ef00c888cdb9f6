import { defineScopes } from '../accounts/scopes.js';

defineScopes(
  { admin: 'Administer clients and keys, and read the audit trail, over HTTP.' },
  { grantedByDefault: false, lastKeyProtected: true },
);

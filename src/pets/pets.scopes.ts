import { defineScopes } from '../accounts/scopes.js';

defineScopes({
  'pets:read': 'List animals and fetch one.',
  'pets:write': 'Add animals.',
});

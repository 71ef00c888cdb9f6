import { defineScopes } from 'petstore-service';

/** The scopes of the catalogue: `pets:read` and `pets:write`. */
export const PETS_SCOPES = defineScopes('pets', {
  read: 'List animals and fetch one.',
  write: 'Add animals.',
});

import { defineScopes } from 'petstore-service';

/** The rights on adoptions: `adoptions:read`, `adoptions:write` and `adoptions:decide`. */
export const ADOPTIONS_SCOPES = defineScopes('adoptions', {
  read: 'List and fetch adoptions.',
  write: 'Request adoptions, and delete declined ones.',
  decide: 'Approve, decline and expire adoptions.',
});

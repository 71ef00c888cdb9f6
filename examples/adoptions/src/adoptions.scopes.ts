import { defineScopes } from 'petstore-service';

/** Scopes of adoptions: `adoptions:read`, `adoptions:write` and `adoptions:decide`. */
export const ADOPTIONS_SCOPES = defineScopes('adoptions', {
  read: 'List and fetch adoptions.',
  write: 'Request adoptions, and delete declined adoptions.',
  decide: 'Approve, decline and expire adoptions.',
});

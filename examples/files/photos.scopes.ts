import { defineScopes } from 'petstore-service';

/** Scopes of photos: `photos:read` and `photos:write`. */
export const PHOTOS_SCOPES = defineScopes('photos', {
  read: 'Fetch photos.',
  write: 'Store and delete photos.',
});

import { defineScopes } from 'petstore-service';

/** The rights on photos: `photos:read` and `photos:write`. */
export const PHOTOS_SCOPES = defineScopes('photos', {
  read: 'Fetch photos.',
  write: 'Keep and delete photos.',
});

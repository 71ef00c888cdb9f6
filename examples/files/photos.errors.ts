import { defineErrors } from 'petstore-service';

/** Errors of photos. */
export const PHOTOS_ERRORS = defineErrors({
  photo_not_found: {
    status: 404,
    message: 'There is no photo of the animal {petId}.',
    example: { petId: 5 },
    cause: 'No photo of this animal was stored, or it was deleted.',
    remedy: 'Upload a photo with putPhoto.',
  },
});

import { defineErrors } from 'petstore-service';

/** What photos are refused with. */
export const PHOTOS_ERRORS = defineErrors({
  photo_not_found: {
    status: 404,
    message: 'There is no photo of the animal {petId}.',
    example: { petId: 5 },
    cause: 'No photo was kept of this animal, or it was deleted.',
    remedy: 'Send one by putPhoto.',
  },
});

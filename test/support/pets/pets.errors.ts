import { defineErrors } from 'petstore-service';

export const PETS_ERRORS = defineErrors({
  pet_not_found: {
    status: 404,
    message: 'There is no animal with the id {petId}.',
    example: { petId: 5 },
    cause: 'No animal has this id.',
    remedy: 'List the animals with `GET /v1/pets` to see their ids.',
  },
});

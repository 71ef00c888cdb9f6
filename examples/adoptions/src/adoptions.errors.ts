import { defineErrors } from 'petstore-service';

/** Errors of adoptions. */
export const ADOPTIONS_ERRORS = defineErrors({
  adoption_not_found: {
    status: 404,
    message: 'There is no adoption with the id {adoptionId}.',
    example: { adoptionId: 5 },
    cause: 'No adoption has this id, or it was deleted.',
    remedy: 'List the adoptions to see their ids.',
  },
  pet_not_available: {
    status: 409,
    message: 'The animal {petId} is not available.',
    example: { petId: 5 },
    cause: 'The animal is reserved for another adopter, or sold.',
    remedy: 'Choose an animal whose status is `available`.',
  },
  pet_not_reserved: {
    status: 409,
    message: 'The animal {petId} is no longer reserved.',
    example: { petId: 5 },
    cause: 'Something other than its adoption has changed the status of the animal since it was requested.',
    remedy: 'Decline the adoption, and request a new adoption if the animal is available.',
  },
  adoption_decided: {
    status: 409,
    message: 'The adoption {adoptionId} is {state}, which is final.',
    example: { adoptionId: 5, state: 'approved' },
    cause: 'Only an adoption that is `requested` can be approved, declined or expired.',
    remedy: 'Fetch the adoption to see its state; request a new adoption if the animal is available.',
  },
  adoption_not_declined: {
    status: 409,
    message: 'The adoption {adoptionId} is {state}; only declined adoptions can be deleted.',
    example: { adoptionId: 5, state: 'requested' },
    cause: 'The adoption is open, or it must be kept as a record.',
    remedy: 'Decline the adoption first if it is `requested`.',
  },
});

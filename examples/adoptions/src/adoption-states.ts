import type { PetStatus } from 'petstore-service/pets';

/** The states of an adoption. It is open while it is `requested`, and decided in every other state. */
export const ADOPTION_STATES = ['requested', 'approved', 'declined', 'expired'] as const;

/** One of the allowed values of `state`. */
export type AdoptionState = (typeof ADOPTION_STATES)[number];

/** The status of the animal in each state of its adoption. */
export const STATUS_OF_PET: Readonly<Record<AdoptionState, PetStatus>> = {
  requested: 'pending',
  approved: 'sold',
  declined: 'available',
  expired: 'available',
};

import type { PetStatus } from 'petstore-service/pets';

/** How far an adoption has come: it is open while it is `requested`, and decided in every other state. */
export const ADOPTION_STATES = ['requested', 'approved', 'declined', 'expired'] as const;

/** One of the allowed values of `state`. */
export type AdoptionState = (typeof ADOPTION_STATES)[number];

/** What becomes of the animal when its adoption is requested, and when it is decided. */
export const STATUS_OF_PET: Readonly<Record<AdoptionState, PetStatus>> = {
  requested: 'pending',
  approved: 'sold',
  declined: 'available',
  expired: 'available',
};

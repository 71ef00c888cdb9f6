/** Availability of an animal (specification, heading "PetStatus"). */
export const PET_STATUSES = ['available', 'pending', 'sold'] as const;

/** One of the allowed values of `status`. */
export type PetStatus = (typeof PET_STATUSES)[number];

/** Status of an animal added without one. */
export const DEFAULT_PET_STATUS: PetStatus = 'available';

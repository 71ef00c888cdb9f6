import { defineEvent } from 'petstore-service';

/** An adoption that was requested. */
export interface AdoptionRequested {
  readonly id: bigint;
  readonly petId: bigint;
}

/** An animal was reserved for somebody. Told in memory: lost if the process dies at once. */
export const ADOPTION_REQUESTED = defineEvent<AdoptionRequested>('adoption.requested');

/** An adoption that was approved. */
export interface AdoptionApproved {
  readonly id: bigint;
  readonly petId: bigint;
  readonly adopterName: string;
}

/** An animal has found a home. Committed with the approval: every listener gets it, in order for each animal. */
export const ADOPTION_APPROVED = defineEvent<AdoptionApproved>('adoption.approved', {
  durable: true,
  key: ({ petId }) => petId,
});

import { PickType } from '@nestjs/swagger';
import { defineEvent, defineWebhookEvent } from 'petstore-service';
import { AdoptionDto } from './adoptions.dto.js';
import { ADOPTIONS_SCOPES } from './adoptions.scopes.js';

/** An adoption that was requested. */
export interface AdoptionRequested {
  readonly id: bigint;
  readonly petId: bigint;
}

/** An animal was reserved. The event is held in memory, so it is lost if the process dies before the listeners run. */
export const ADOPTION_REQUESTED = defineEvent<AdoptionRequested>('adoption.requested');

/** An adoption that was approved. */
export interface AdoptionApproved {
  readonly id: bigint;
  readonly petId: bigint;
  readonly adopterName: string;
}

/**
 * An adoption was approved. The event is committed together with the approval, and every listener receives it, in order for each animal.
 */
export const ADOPTION_APPROVED = defineEvent<AdoptionApproved>('adoption.approved', {
  durable: true,
  key: ({ petId }) => petId,
});

/** A decided adoption as sent to clients' endpoints: without the name of the adopter, which they do not need. */
export class AdoptionDecided extends PickType(AdoptionDto, ['id', 'petId', 'state']) {}

/** An adoption was decided. Sent to endpoints of clients that may read adoptions. */
export const ADOPTIONS_DECIDED = defineWebhookEvent('adoptions.decided', {
  description: 'An adoption was approved or declined, or has expired; `state` shows which.',
  scope: ADOPTIONS_SCOPES.read,
  data: AdoptionDecided,
});

import { PickType } from '@nestjs/swagger';
import { defineEvent, defineWebhookEvent } from 'petstore-service';
import { AdoptionDto } from './adoptions.dto.js';
import { ADOPTIONS_SCOPES } from './adoptions.scopes.js';

/** An adoption that was requested. */
export interface AdoptionRequested {
  readonly id: bigint;
  readonly petId: bigint;
}

/** An animal was reserved. The event is in memory: lost if the process dies at once. */
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

/** An adoption that is open no longer, as endpoints of clients get it: without the name of the adopter, which need not leave the service. */
export class AdoptionDecided extends PickType(AdoptionDto, ['id', 'petId', 'state']) {}

/** Sent to the endpoints of clients that may read adoptions. */
export const ADOPTIONS_DECIDED = defineWebhookEvent('adoptions.decided', {
  description: 'An adoption was approved or declined, or has expired; `state` tells which.',
  scope: ADOPTIONS_SCOPES.read,
  data: AdoptionDecided,
});

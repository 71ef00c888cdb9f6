import { defineEvent, defineWebhookEvent } from 'petstore-service';
import type { PetStatus } from './pet.entity.js';
import { PetDto } from './pets.dto.js';
import { PETS_SCOPES } from './pets.scopes.js';

/** An animal that was added. */
export interface PetCreated {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: PetStatus;
}

/** An animal was added. */
export const PET_CREATED = defineEvent<PetCreated>('pet.created');

/** An animal was added. The data for webhook endpoints is the animal as returned by the API. */
export const WEBHOOK_PET_CREATED = defineWebhookEvent('pets.created', {
  description: 'An animal was added to the catalogue; `data` is the animal as `createPet` returns it.',
  scope: PETS_SCOPES.read,
  data: PetDto,
});

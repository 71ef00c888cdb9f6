import { defineEvent } from '../events/domain-events.js';
import type { PetStatus } from './pet.entity.js';

/** An animal that was added. */
export interface PetCreated {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: PetStatus;
}

/** An animal was added. */
export const PET_CREATED = defineEvent<PetCreated>('pet.created');

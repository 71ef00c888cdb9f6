import type { PetStatus } from './pet-status.js';

/** An animal was added. */
export interface PetCreated {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: PetStatus;
}

declare module '../events/domain-events.js' {
  interface DomainEventMap {
    'pet.created': PetCreated;
  }
}

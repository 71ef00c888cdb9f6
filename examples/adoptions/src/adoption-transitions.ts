import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { ApiError, Clock, DomainEvents, References, WebhookMessages } from 'petstore-service';
import { PetsService } from 'petstore-service/pets';
import type { Repository } from 'typeorm';
import { type AdoptionState, STATUS_OF_PET } from './adoption-states.js';
import { Adoption } from './adoption.entity.js';
import type { NewAdoption } from './adoptions.dto.js';
import { ADOPTIONS_ERRORS } from './adoptions.errors.js';
import { ADOPTIONS_DECIDED, ADOPTION_APPROVED, ADOPTION_REQUESTED } from './adoptions.events.js';
import { AdoptionsMetrics } from './adoptions.metrics.js';

/** Changes the state of an adoption and, in the same transaction, the status of its animal. */
@Injectable()
export class AdoptionTransitions {
  constructor(
    @InjectRepository(Adoption) private readonly adoptions: Repository<Adoption>,
    private readonly pets: PetsService,
    private readonly references: References,
    private readonly events: DomainEvents,
    private readonly webhooks: WebhookMessages,
    private readonly metrics: AdoptionsMetrics,
    private readonly clock: Clock,
  ) {}

  /** Reserves the animal and stores the adoption. Throws pet_not_available, and validation_failed if the animal does not exist. */
  request({ petId, adopterName, note = null }: NewAdoption): Promise<Adoption> {
    return this.adoptions.manager.transaction(async () => {
      if (!(await this.pets.changeStatus(petId, 'available', STATUS_OF_PET.requested))) {
        await this.references.check(Adoption, { petId });
        throw new ApiError(ADOPTIONS_ERRORS.pet_not_available, { params: { petId: String(petId) } });
      }
      const adoption = this.adoptions.create({
        petId,
        adopterName,
        note,
        state: 'requested',
        requestedAt: this.now(),
        decidedAt: null,
      });
      await this.adoptions.insert(adoption);
      this.events.publish(ADOPTION_REQUESTED, { id: adoption.id, petId });
      this.metrics.count('requested');
      return adoption;
    });
  }

  /**
   * Changes the state of an adoption that was read in the caller's transaction; has no effect if it is already in this state. Throws
   * adoption_decided if the adoption is not open, and pet_not_reserved if it is approved although its animal is no longer reserved.
   */
  async decide({ id, petId, adopterName, state }: Adoption, next: AdoptionState): Promise<void> {
    if (next === state) return;
    const decision = { state: next, decidedAt: this.now() };
    // Another transaction may have decided the adoption since it was read.
    const { affected } = await this.adoptions.update({ id, state: 'requested' }, decision);
    if (affected === 0) {
      const { state: final } = await this.adoptions.findOneByOrFail({ id });
      throw new ApiError(ADOPTIONS_ERRORS.adoption_decided, {
        params: { adoptionId: String(id), state: final },
      });
    }
    const isReserved = await this.pets.changeStatus(petId, STATUS_OF_PET.requested, STATUS_OF_PET[next]);
    // If the animal was already released, a declined or expired adoption does not change it.
    if (!isReserved && next === 'approved')
      throw new ApiError(ADOPTIONS_ERRORS.pet_not_reserved, { params: { petId: String(petId) } });
    if (next === 'approved') await this.events.publish(ADOPTION_APPROVED, { id, petId, adopterName });
    await this.webhooks.send(ADOPTIONS_DECIDED, { id, petId, state: next });
    this.metrics.count(next);
  }

  private now(): string {
    return new Date(this.clock.now()).toISOString();
  }
}

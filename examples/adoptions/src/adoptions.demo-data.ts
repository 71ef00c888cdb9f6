import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Clock, type DemoDataProvider, ProvidesDemoData } from 'petstore-service';
import { Pet, type PetStatus } from 'petstore-service/pets';
import type { Repository } from 'typeorm';
import type { AdoptionState } from './adoption-states.js';
import { Adoption } from './adoption.entity.js';

/** Default number of adoptions. */
const FEW = 12;
const HOUR_MS = 3_600_000;
const ADOPTERS = ['Ada', 'Grace', 'Edsger', 'Barbara', 'Alan', 'Margaret'] as const;

/** The state of an adoption that is consistent with each status of its animal. */
const STATE_BY_STATUS: Readonly<Record<PetStatus, AdoptionState>> = {
  pending: 'requested',
  sold: 'approved',
  available: 'declined',
};

/** Adoptions of animals that have none yet, in states that are consistent with the animals' status. */
@Injectable()
@ProvidesDemoData()
export class AdoptionsDemoData implements DemoDataProvider {
  constructor(
    @InjectRepository(Adoption) private readonly adoptions: Repository<Adoption>,
    private readonly clock: Clock,
  ) {}

  count(): Promise<number> {
    return this.adoptions.count();
  }

  async add(count = FEW): Promise<number> {
    const { manager } = this.adoptions;
    return manager.transaction(async () => {
      const pets = await manager
        .getRepository(Pet)
        .createQueryBuilder('pet')
        .where((query) => {
          const adoption = query.subQuery().from(Adoption, 'adoption').where('adoption.petId = pet.id');
          return `NOT EXISTS ${adoption.getQuery()}`;
        })
        .orderBy('pet.id')
        .take(count)
        .getMany();
      for (const [index, pet] of pets.entries()) await this.adoptions.insert(this.adoptionOf(pet, index));
      return pets.length;
    });
  }

  private adoptionOf({ id, status }: Pet, index: number): Omit<Adoption, 'id'> {
    const state = STATE_BY_STATUS[status];
    const at = (hours: number) => new Date(this.clock.now() - hours * HOUR_MS).toISOString();
    return {
      petId: id,
      adopterName: ADOPTERS[index % ADOPTERS.length] ?? 'Ada',
      note: index % 3 === 0 ? 'Has a garden' : null,
      state,
      // Recent enough that open adoptions do not expire immediately.
      requestedAt: at(1 + (index % 24)),
      decidedAt: state === 'requested' ? null : at(index % 24),
    };
  }
}

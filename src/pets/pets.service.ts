import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import {
  ApiError,
  DomainEvents,
  type JsonPage,
  JsonRows,
  type JsonText,
  type PageRequest,
  WebhookMessages,
} from 'petstore-service';
import { Pet, type PetStatus } from './pet.entity.js';
import { type NewPet, PetDto } from './pets.dto.js';
import { PETS_ERRORS } from './pets.errors.js';
import { PET_CREATED, WEBHOOK_PET_CREATED } from './pets.events.js';

/** The catalogue of animals. */
@Injectable()
export class PetsService {
  constructor(
    @InjectRepository(Pet) private readonly pets: Repository<Pet>,
    private readonly rows: JsonRows,
    private readonly events: DomainEvents,
    private readonly webhooks: WebhookMessages,
  ) {}

  /** A page of the matching animals, by id. Its cost does not depend on the number of preceding animals. */
  list(page: PageRequest): Promise<JsonPage<PetDto>> {
    return this.rows.page(Pet, PetDto, page);
  }

  /** Adds an animal, and notifies webhook endpoints that subscribe to pets.created. */
  async create(newPet: NewPet): Promise<Pet> {
    const pet = this.pets.create(newPet);
    await this.webhooks.sendWith(
      WEBHOOK_PET_CREATED,
      () => this.pets.insert(pet),
      () => pet,
    );
    this.events.publish(PET_CREATED, pet);
    return pet;
  }

  /** The animal with this id. Throws pet_not_found. */
  async get(id: bigint): Promise<JsonText<PetDto>> {
    const pet = await this.rows.one(Pet, PetDto, id);
    if (!pet) throw new ApiError(PETS_ERRORS.pet_not_found, { params: { petId: String(id) } });
    return pet;
  }

  /** Changes the status of an animal if it has the expected one; returns whether it did. Of two concurrent callers, only one succeeds. */
  async changeStatus(id: bigint, from: PetStatus, to: PetStatus): Promise<boolean> {
    const { affected } = await this.pets.update({ id, status: from }, { status: to });
    return affected !== 0;
  }
}

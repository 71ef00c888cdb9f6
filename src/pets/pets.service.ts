import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { INT64_MIN } from '../database/int64.js';
import { int64OfPosition, pageOf, type Page, type PageRequest } from '../database/page.js';
import type { UnitOfWork } from '../database/unit-of-work.js';
import { ApiError } from '../errors/api-error.js';
import { DomainEvents } from '../events/domain-events.js';
import type { NewPet } from './dto/new-pet.js';
import { Pet } from './pet.entity.js';
import type { PetStatus } from './pet-status.js';
import { PETS_ERRORS } from './pets.errors.js';
import './pets.events.js';

/** The catalogue of animals. */
@Injectable()
export class PetsService {
  constructor(
    @InjectRepository(Pet) private readonly pets: Repository<Pet>,
    private readonly events: DomainEvents,
  ) {}

  /** A page of the animals by id, of one status or of all. Its cost does not depend on how many come before. */
  async list({ limit, after }: PageRequest, status?: PetStatus): Promise<Page<Pet>> {
    const query = this.pets
      .createQueryBuilder('pet')
      // Also for the first page: without a condition on the key SQLite scans the table.
      .where('pet.id >= :from', { from: after ? int64OfPosition(after) : INT64_MIN })
      .orderBy('pet.id')
      .limit(limit + 1);
    if (status !== undefined) query.andWhere('pet.status = :status', { status });
    return pageOf(await query.getMany(), limit, ({ id }) => [String(id + 1n)]);
  }

  /** Adds an animal; once the unit is committed it is on disk. */
  async create({ name, categoryId, status }: NewPet, unit: UnitOfWork): Promise<Pet> {
    const row = this.pets.create({ name, categoryId, status });
    await unit.insert(Pet, row);
    const pet = { id: row.id, name, categoryId, status };
    unit.afterCommit(() => this.events.publish('pet.created', pet));
    return pet;
  }

  /** The animal with this id; throws pet_not_found when there is none. */
  async get(id: bigint): Promise<Pet> {
    const pet = await this.pets.findOneBy({ id });
    if (!pet) throw new ApiError(PETS_ERRORS.pet_not_found, { params: { petId: String(id) } });
    return pet;
  }
}

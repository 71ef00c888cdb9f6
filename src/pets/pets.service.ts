import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { ApiError } from '../errors/api-error.js';
import type { ListPetsQuery } from './dto/list-pets.query.js';
import type { NewPet } from './dto/new-pet.js';
import { Pet } from './pet.entity.js';
import { PETS_ERRORS } from './pets.errors.js';

/** The catalogue of animals. */
@Injectable()
export class PetsService {
  constructor(@InjectRepository(Pet) private readonly pets: Repository<Pet>) {}

  /** The first animals by id, of one status or of all. */
  list({ limit, status }: ListPetsQuery): Promise<Pet[]> {
    return this.pets.find({
      where: status === undefined ? {} : { status },
      order: { id: 'ASC' },
      take: limit,
    });
  }

  /** Adds an animal; once this resolves it is on disk. */
  async create({ name, categoryId, status }: NewPet): Promise<Pet> {
    const row = this.pets.create({ name, categoryId, status });
    await this.pets.insert(row);
    return { id: row.id, name, categoryId, status };
  }

  /** The animal with this id; throws pet_not_found when there is none. */
  async get(id: bigint): Promise<Pet> {
    const pet = await this.pets.findOneBy({ id });
    if (!pet) throw new ApiError(PETS_ERRORS.pet_not_found, { params: { petId: String(id) } });
    return pet;
  }
}

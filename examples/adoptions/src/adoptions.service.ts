import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import {
  ApiError,
  type JsonPage,
  JsonRows,
  type JsonText,
  type PageRequest,
  type Precondition,
} from 'petstore-service';
import type { Repository } from 'typeorm';
import { AdoptionTransitions } from './adoption-transitions.js';
import { Adoption } from './adoption.entity.js';
import { AdoptionDto, type AdoptionPatch, type NewAdoption } from './adoptions.dto.js';
import { ADOPTIONS_ERRORS } from './adoptions.errors.js';

/** The adoptions. */
@Injectable()
export class AdoptionsService {
  constructor(
    @InjectRepository(Adoption) private readonly adoptions: Repository<Adoption>,
    private readonly rows: JsonRows,
    private readonly transitions: AdoptionTransitions,
  ) {}

  /** A page of the adoptions, filtered and sorted according to the request. */
  list(page: PageRequest): Promise<JsonPage<AdoptionDto>> {
    return this.rows.page(Adoption, AdoptionDto, page);
  }

  /** The adoption with this id. Throws adoption_not_found. */
  async get(id: bigint): Promise<JsonText<AdoptionDto>> {
    return (await this.rows.one(Adoption, AdoptionDto, id)) ?? missing(id);
  }

  /** Reserves an animal for an adopter. Throws pet_not_available, and validation_failed if the animal does not exist. */
  request(body: NewAdoption): Promise<Adoption> {
    return this.transitions.request(body);
  }

  /**
   * Decides an adoption or changes its note. The state that it already has is allowed and has no effect. Throws adoption_not_found,
   * precondition_failed, adoption_decided and pet_not_reserved.
   */
  update(
    id: bigint,
    { state, note }: AdoptionPatch,
    precondition: Precondition,
  ): Promise<JsonText<AdoptionDto>> {
    return this.adoptions.manager.transaction(async () => {
      precondition.check(AdoptionDto, await this.get(id));
      if (state !== undefined) await this.transitions.decide(await this.row(id), state);
      if (note !== undefined) await this.adoptions.update({ id }, { note });
      return this.get(id);
    });
  }

  /** Deletes a declined adoption. Throws adoption_not_found, precondition_failed and adoption_not_declined. */
  delete(id: bigint, precondition: Precondition): Promise<void> {
    return this.adoptions.manager.transaction(async () => {
      precondition.check(AdoptionDto, await this.get(id));
      const { state } = await this.row(id);
      if (state !== 'declined')
        throw new ApiError(ADOPTIONS_ERRORS.adoption_not_declined, {
          params: { adoptionId: String(id), state },
        });
      await this.adoptions.delete({ id });
    });
  }

  private async row(id: bigint): Promise<Adoption> {
    return (await this.adoptions.findOneBy({ id })) ?? missing(id);
  }
}

function missing(id: bigint): never {
  throw new ApiError(ADOPTIONS_ERRORS.adoption_not_found, { params: { adoptionId: String(id) } });
}

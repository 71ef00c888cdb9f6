import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import {
  ApiErrors,
  Cached,
  Deprecated,
  Idempotent,
  type JsonText,
  NEXT_PAGE,
  Operation,
  Paged,
  type Pager,
  RequireScopes,
  Tag,
} from 'petstore-service';
import { GetPetParams, ListPetsQuery, NewPet, PetDto } from './pets.dto.js';
import { PETS_ERRORS } from './pets.errors.js';
import { PETS_SCOPES } from './pets.scopes.js';
import { PetsService } from './pets.service.js';

/** The three operations of the specification (heading "Endpoints"). */
@Tag('Pets', 'The catalogue of animals offered in the store.')
@Controller({ path: 'pets', version: '1' })
export class PetsController {
  constructor(private readonly pets: PetsService) {}

  @Get()
  @RequireScopes(PETS_SCOPES.read)
  @Cached({ rowsOnly: true })
  @Operation({
    id: 'listPets',
    summary: 'List animals',
    description:
      'Lists up to `limit` animals in the order of their ids, optionally only those with one status.',
    responses: {
      status: 200,
      description: 'A paginated list of animals',
      arrayOf: PetDto,
      schemaName: 'Pets',
      optionalHeaders: NEXT_PAGE,
    },
  })
  listPets(@Query() query: ListPetsQuery, @Paged() pager: Pager): Promise<JsonText<PetDto[]>> {
    return pager.respond(query, (page) => this.pets.list(page));
  }

  @Post()
  @RequireScopes(PETS_SCOPES.write)
  @Idempotent()
  @Operation({
    id: 'createPet',
    summary: 'Add an animal',
    description:
      'Adds an animal and returns it with its assigned `id`. The animal is on disk before the response is sent.',
    responses: {
      status: 201,
      description: 'The created animal, including the assigned `id`',
      type: PetDto,
      headers: { Location: 'Address of the animal' },
      location: ({ id }) => `/v1/pets/${id}`,
    },
  })
  createPet(@Body() newPet: NewPet): Promise<PetDto> {
    return this.pets.create(newPet);
  }

  @Get(':petId')
  @RequireScopes(PETS_SCOPES.read)
  @Cached({ rowsOnly: true })
  @Deprecated({
    since: Date.UTC(2026, 10, 20),
    sunset: Date.UTC(2030, 11, 5),
    replacement: 'GET /v1/pets?status=available',
    link: '/docs#/Pets/getPet',
  })
  @Operation({
    id: 'getPet',
    summary: 'Get an animal',
    description:
      'Fetches one animal by its id. Until its removal, no other operation fetches a single animal.',
    responses: { status: 200, description: 'The animal', type: PetDto },
  })
  @ApiErrors(PETS_ERRORS.pet_not_found)
  getPet(@Param() { petId }: GetPetParams): Promise<JsonText<PetDto>> {
    return this.pets.get(petId);
  }
}

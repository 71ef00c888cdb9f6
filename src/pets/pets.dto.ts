import { ApiSchema } from '@nestjs/swagger';
import { Cursor, Enum, Int64, Integer, type PageQuery, Text } from 'petstore-service';
import { DEFAULT_PET_STATUS, PET_STATUSES, type PetStatus } from './pet.entity.js';

/** Body of createPet (specification, heading "NewPet"). */
@ApiSchema({ name: 'NewPet', description: 'An animal to add.' })
export class NewPet {
  @Text({ description: 'The animal’s name', example: 'Biscuit', maxLength: 255 })
  name!: string;

  @Int64({ description: 'Identifier of the category the animal belongs to', example: 1 })
  categoryId!: bigint;

  @Enum({
    enumName: 'PetStatus',
    values: PET_STATUSES,
    description: 'Availability of the animal',
    default: DEFAULT_PET_STATUS,
  })
  status!: PetStatus;
}

/** An animal as returned (specification, heading "Pet"). */
@ApiSchema({ name: 'Pet', description: 'An animal offered in the store.' })
export class PetDto {
  @Int64({ description: 'Unique identifier assigned by the service on creation', example: 1 })
  id!: bigint;

  @Text({ description: 'The animal’s name', example: 'Biscuit', maxLength: 255 })
  name!: string;

  @Int64({ description: 'Identifier of the category the animal belongs to', example: 1 })
  categoryId!: bigint;

  @Enum({
    enumName: 'PetStatus',
    values: PET_STATUSES,
    description: 'Availability of the animal',
    optional: true,
  })
  status!: PetStatus;
}

/** Query of listPets (specification, headings "List animals" and "Page size"). */
export class ListPetsQuery implements PageQuery {
  @Integer({
    description: 'Maximum number of animals returned',
    minimum: 1,
    maximum: 100,
    default: 20,
  })
  limit!: number;

  @Enum({
    enumName: 'PetStatus',
    values: PET_STATUSES,
    description: 'Restrict the result to animals of this status',
    optional: true,
  })
  status?: PetStatus;

  @Cursor()
  cursor?: string;
}

/** Path parameters of getPet. */
export class GetPetParams {
  @Int64({ description: 'The identifier of the animal', example: 1 })
  petId!: bigint;
}

import { ApiSchema, OmitType } from '@nestjs/swagger';
import { Cursor, Enum, Filter, Int64, Integer, type PageQuery, Text } from 'petstore-service';
import { DEFAULT_PET_STATUS, PET_STATUSES, type PetStatus } from './pet.entity.js';

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

/** Body of createPet (specification, heading "NewPet"): an animal without its id; the status has a default. */
@ApiSchema({ name: 'NewPet', description: 'An animal to add.' })
export class NewPet extends OmitType(PetDto, ['id', 'status']) {
  @Enum({
    enumName: 'PetStatus',
    values: PET_STATUSES,
    description: 'Availability of the animal',
    default: DEFAULT_PET_STATUS,
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

  @Filter()
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

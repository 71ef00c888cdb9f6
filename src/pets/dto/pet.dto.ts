import { ApiSchema } from '@nestjs/swagger';
import { PET_STATUSES, type PetStatus } from '../pet-status.js';
import { Enum, Int64, Text } from '../../input/fields.js';

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

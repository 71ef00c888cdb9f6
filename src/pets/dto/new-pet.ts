import { ApiSchema } from '@nestjs/swagger';
import { DEFAULT_PET_STATUS, PET_STATUSES, type PetStatus } from '../pet-status.js';
import { Enum, Int64, Text } from '../../input/fields.js';

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

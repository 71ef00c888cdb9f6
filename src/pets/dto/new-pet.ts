import { ApiSchema } from '@nestjs/swagger';
import { EnumProperty } from '../../input/enum.js';
import { Int64Property } from '../../input/int64.js';
import { TextProperty } from '../../input/text.js';
import { DEFAULT_PET_STATUS, PET_STATUSES, type PetStatus } from '../pet-status.js';

/** Body of createPet (specification, heading "NewPet"). */
@ApiSchema({ name: 'NewPet', description: 'An animal to add.' })
export class NewPet {
  @TextProperty({ description: 'The animal’s name', example: 'Biscuit', maxLength: 255 })
  name!: string;

  @Int64Property({ description: 'Identifier of the category the animal belongs to', example: 1 })
  categoryId!: bigint;

  @EnumProperty({
    enumName: 'PetStatus',
    values: PET_STATUSES,
    description: 'Availability of the animal',
    default: DEFAULT_PET_STATUS,
  })
  status!: PetStatus;
}

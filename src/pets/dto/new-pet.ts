import { ApiSchema } from '@nestjs/swagger';
import { EnumProperty } from '../../http/properties/enum.property.js';
import { Int64Property } from '../../http/properties/int64.property.js';
import { TextProperty } from '../../http/properties/text.property.js';
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

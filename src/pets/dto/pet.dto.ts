import { ApiSchema } from '@nestjs/swagger';
import { EnumField } from '../../input/enum.js';
import { Int64Property } from '../../input/int64.js';
import { TextProperty } from '../../input/text.js';
import { PET_STATUSES, type PetStatus } from '../pet-status.js';

/** An animal as returned (specification, heading "Pet"). */
@ApiSchema({ name: 'Pet', description: 'An animal offered in the store.' })
export class PetDto {
  @Int64Property({ description: 'Unique identifier assigned by the service on creation', example: 1 })
  id!: bigint;

  @TextProperty({ description: 'The animal’s name', example: 'Biscuit', maxLength: 255 })
  name!: string;

  @Int64Property({ description: 'Identifier of the category the animal belongs to', example: 1 })
  categoryId!: bigint;

  @EnumField({ enumName: 'PetStatus', values: PET_STATUSES, description: 'Availability of the animal' })
  status!: PetStatus;
}

import { EnumProperty } from '../../input/enum.js';
import { IntegerParameter } from '../../input/integer.js';
import { CursorParameter, type PageQuery } from '../../paging/page.query.js';
import { PET_STATUSES, type PetStatus } from '../pet-status.js';

/** Query of listPets (specification, headings "List animals" and "Page size"). */
export class ListPetsQuery implements PageQuery {
  @IntegerParameter({
    description: 'Maximum number of animals returned',
    minimum: 1,
    maximum: 100,
    default: 20,
  })
  limit!: number;

  @EnumProperty({
    enumName: 'PetStatus',
    values: PET_STATUSES,
    description: 'Restrict the result to animals of this status',
  })
  status?: PetStatus;

  @CursorParameter()
  cursor?: string;
}

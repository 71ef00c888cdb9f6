import { Cursor, type PageQuery } from '../../paging/page.query.js';
import { PET_STATUSES, type PetStatus } from '../pet-status.js';
import { Enum, Integer } from '../../input/fields.js';

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

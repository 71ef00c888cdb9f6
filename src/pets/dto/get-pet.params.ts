import { Int64Parameter } from '../../input/int64.js';

/** Path parameters of getPet. */
export class GetPetParams {
  @Int64Parameter({ description: 'The identifier of the animal', example: 1 })
  petId!: bigint;
}

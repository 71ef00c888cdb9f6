import { Int64 } from '../../input/fields.js';

/** Path parameters of getPet. */
export class GetPetParams {
  @Int64({ description: 'The identifier of the animal', example: 1 })
  petId!: bigint;
}

import { ApiSchema, OmitType } from '@nestjs/swagger';
import { Enum, Filter, Instant, Int64, MergePatch, PageQuery, Sort, Text } from 'petstore-service';
import { ADOPTION_STATES, type AdoptionState } from './adoption-states.js';

/** An adoption as returned. */
@ApiSchema({ name: 'Adoption', description: 'A request to adopt an animal, and its state.' })
export class AdoptionDto {
  @Int64({ description: 'Identifier assigned by the service', example: 1 })
  id!: bigint;

  @Int64({ description: 'The animal', example: 1 })
  petId!: bigint;

  @Text({ description: 'Name of the adopter', example: 'Ada Lovelace', maxLength: 255 })
  adopterName!: string;

  @Text({
    description: 'Notes',
    example: 'Has a garden',
    maxLength: 1000,
    optional: true,
    nullable: true,
  })
  note?: string | null;

  @Enum({ enumName: 'AdoptionState', values: ADOPTION_STATES, description: 'State of the adoption' })
  state!: AdoptionState;

  @Instant({ description: 'When it was requested' })
  requestedAt!: string;

  @Instant({
    description: 'When it was approved, declined or expired; null while it is open',
    nullable: true,
  })
  decidedAt!: string | null;
}

/** Body of requestAdoption. */
@ApiSchema({ name: 'NewAdoption', description: 'A request to adopt an animal.' })
export class NewAdoption extends OmitType(AdoptionDto, ['id', 'state', 'requestedAt', 'decidedAt']) {}

/** The changeable fields of an adoption. */
class AdoptionDecision {
  @Enum({
    enumName: 'AdoptionState',
    values: ADOPTION_STATES,
    description:
      'The decision. An adoption in the state `requested` can change to any other state; all other states are final',
  })
  state!: AdoptionState;

  @Text({ description: 'Notes', maxLength: 1000, optional: true, nullable: true })
  note?: string | null;
}

/** Body of decideAdoption. */
@ApiSchema({ name: 'AdoptionPatch', description: 'Changes to an adoption; omitted fields do not change.' })
export class AdoptionPatch extends MergePatch(AdoptionDecision) {}

/** Query of listAdoptions. */
export class ListAdoptionsQuery extends PageQuery {
  @Filter()
  @Enum({
    enumName: 'AdoptionState',
    values: ADOPTION_STATES,
    description: 'Only adoptions in these states',
    list: true,
    optional: true,
  })
  state?: AdoptionState[];

  @Filter()
  @Int64({ description: 'Only adoptions of this animal', optional: true })
  petId?: bigint;

  @Filter({ property: 'requestedAt', comparison: '>=' })
  @Instant({ description: 'Only adoptions that were requested then or later', optional: true })
  requestedFrom?: string;

  @Filter({ property: 'requestedAt', comparison: '<' })
  @Instant({ description: 'Only adoptions that were requested earlier', optional: true })
  requestedBefore?: string;

  @Sort({ by: ['requestedAt', '-requestedAt', '-id'] })
  sort?: string;
}

/** Path parameters of the operations on one adoption. */
export class AdoptionParams {
  @Int64({ description: 'The identifier of the adoption', example: 1 })
  adoptionId!: bigint;
}

import { Int64Column, Int64Key } from 'petstore-service';
import { Pet } from 'petstore-service/pets';
import { Check, Column, Entity, ForeignKey, Index } from 'typeorm';
import type { AdoptionState } from './adoption-states.js';

/** A request to adopt an animal, and its state. */
@Entity('adoptions')
@Check('adoptions_state_allowed', `state IN ('requested', 'approved', 'declined', 'expired')`)
// The database itself ensures that an animal has at most one open adoption.
@Index('adoptions_open', ['petId'], { unique: true, where: `state = 'requested'` })
@Index('adoptions_pet', ['petId', 'id'])
@Index('adoptions_pet_requested', ['petId', 'requestedAt', 'id'])
@Index('adoptions_state', ['state', 'id'])
@Index('adoptions_state_requested', ['state', 'requestedAt', 'id'])
@Index('adoptions_requested', ['requestedAt', 'id'])
export class Adoption {
  @Int64Key()
  id!: bigint;

  @Int64Column({ name: 'pet_id' })
  @ForeignKey(() => Pet, { name: 'adoptions_of_pet' })
  petId!: bigint;

  @Column('varchar', { name: 'adopter_name', length: 255 })
  adopterName!: string;

  @Column('varchar', { length: 1000, nullable: true })
  note!: string | null;

  @Column('varchar', { length: 9 })
  state!: AdoptionState;

  /** ISO 8601 text in UTC, like all timestamps of the service. */
  @Column('varchar', { name: 'requested_at', length: 24 })
  requestedAt!: string;

  /** When it was approved, declined or expired; null while it is open. */
  @Column('varchar', { name: 'decided_at', length: 24, nullable: true })
  decidedAt!: string | null;
}

import { Check, Column, Entity, Index } from 'typeorm';
import { Int64Column, Int64Key } from 'petstore-service';

/** Availability of an animal (specification, heading "PetStatus"). */
export const PET_STATUSES = ['available', 'pending', 'sold'] as const;

/** One of the values of `status`. */
export type PetStatus = (typeof PET_STATUSES)[number];

/** Default status of a new animal. */
export const DEFAULT_PET_STATUS: PetStatus = 'available';

/** An animal offered in the store. */
@Entity('pets')
@Check('pets_status_allowed', `status IN ('available', 'pending', 'sold')`)
@Index('pets_status_id', ['status', 'id'])
export class Pet {
  @Int64Key()
  id!: bigint;

  @Column('varchar', { length: 255 })
  name!: string;

  @Int64Column({ name: 'category_id' })
  categoryId!: bigint;

  @Column('varchar', { length: 9 })
  status!: PetStatus;
}

import { Int64Column } from 'petstore-service';
import { Column, Entity, ForeignKey } from 'typeorm';
import { Adoption } from './adoption.entity.js';

/** A letter to an adopter, written once for each delivery of an event. */
@Entity('adoption_letters')
export class AdoptionLetter {
  /** Id of the delivery for which it was written. */
  @Int64Column({ primary: true, name: 'delivery_id' })
  deliveryId!: bigint;

  @Int64Column({ name: 'adoption_id' })
  @ForeignKey(() => Adoption, { name: 'adoption_letters_of_adoption' })
  adoptionId!: bigint;

  @Column('varchar', { length: 1000 })
  text!: string;
}

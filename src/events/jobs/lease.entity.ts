import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Who alone does something at the moment, among all processes on the database. */
@Entity('leases')
export class Lease {
  /** What is done, such as `job/adoptions.expire`. */
  @PrimaryColumn('varchar', { length: 200 })
  name!: string;

  /** Id of the one who does it; null while nobody does. */
  @Column('varchar', { length: 36, nullable: true })
  holder!: string | null;

  /** Grows with every change of the row. One that stands still for the time of a lease has no living holder. */
  @Column('integer')
  beat!: number;
}

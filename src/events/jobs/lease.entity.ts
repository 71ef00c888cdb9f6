import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Gives one process at a time, among all that use the database, the right to do something. */
@Entity('leases')
export class Lease {
  /** The work, such as `job/adoptions.expire`. */
  @PrimaryColumn('varchar', { length: 200 })
  name!: string;

  /** Id of the holder; null while it is free. */
  @Column('varchar', { length: 36, nullable: true })
  holder!: string | null;

  /** Incremented by every change of the row. If it does not change for the duration of a lease, the holder is dead. */
  @Column('integer')
  beat!: number;
}

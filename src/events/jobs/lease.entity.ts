import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The one process that currently does something, among all on the database. */
@Entity('leases')
export class Lease {
  /** The work, such as `job/adoptions.expire`. */
  @PrimaryColumn('varchar', { length: 200 })
  name!: string;

  /** Id of the holder; null while nobody holds it. */
  @Column('varchar', { length: 36, nullable: true })
  holder!: string | null;

  /** Grows with every change of the row. If it does not change for the time of a lease, the holder is dead. */
  @Column('integer')
  beat!: number;
}

import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A notice of an instance on PostgreSQL to the others. SQLite needs none: its files show each commit. */
@Entity('instance_notices')
export class InstanceNotice {
  /** A UUID of this notice: one that is given again has another. */
  @PrimaryColumn('varchar', { length: 36 })
  id!: string;

  /** It caches, or it writes without telling the others through Redis. */
  @Column('varchar', { length: 10 })
  says!: 'caches' | 'writes';

  /** Grows while its instance lives. */
  @Column('integer')
  beat!: number;
}

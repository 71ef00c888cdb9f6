import { Column, Entity, PrimaryColumn } from 'typeorm';
import { Int64Column } from '../../database/int64.js';

/** When a job is due, for all processes on the database. */
@Entity('jobs')
export class JobState {
  /** As its `@Job()` names it. */
  @PrimaryColumn('varchar', { length: 100 })
  name!: string;

  /** When it is run next, in ms since the Unix epoch. */
  @Int64Column({ name: 'due_at' })
  dueAt!: bigint;

  /** How many runs have failed since the last that succeeded. */
  @Column('integer')
  failures!: number;
}

import { Column, Entity, PrimaryColumn } from 'typeorm';
import { Int64Column } from '../../database/int64.js';

/** When a job is due, for all processes that use the database. */
@Entity('jobs')
export class JobState {
  /** Name of the `@Job()`. */
  @PrimaryColumn('varchar', { length: 100 })
  name!: string;

  /** Time of the next run, in ms since the Unix epoch. */
  @Int64Column({ name: 'due_at' })
  dueAt!: bigint;

  /** Number of failures since the last success. */
  @Column('integer')
  failures!: number;
}

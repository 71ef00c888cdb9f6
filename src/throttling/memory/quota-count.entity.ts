import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { Int64Column } from '../../database/int64.js';

/** Requests that a client was counted in one window of a day or longer. */
@Entity('quota_counts')
export class QuotaCount {
  /** What counts together, such as `client:<id>`. */
  @PrimaryColumn('varchar', { length: 200 })
  key!: string;

  /** Start of the window, in ms since the Unix epoch. */
  @Int64Column({ name: 'window_start', primary: true })
  @Index('quota_counts_window')
  windowStart!: bigint;

  @Column('integer')
  used!: number;
}

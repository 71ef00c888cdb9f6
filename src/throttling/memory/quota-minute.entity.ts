import { Column, Entity, PrimaryColumn } from 'typeorm';
import { Int64Column } from '../../database/int64.js';

/** Requests that a client was counted in the last minute in which it sent any. */
@Entity('quota_minutes')
export class QuotaMinute {
  /** What counts together, such as `client:<id>`. */
  @PrimaryColumn('varchar', { length: 200 })
  key!: string;

  /** Start of the minute, in ms since the Unix epoch. */
  @Int64Column({ name: 'window_start' })
  windowStart!: bigint;

  @Column('integer')
  used!: number;
}

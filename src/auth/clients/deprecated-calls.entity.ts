import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { Int64Column } from '../../database/int64.js';

/** How often a client called a deprecated operation in one UTC day. */
@Entity('deprecated_calls')
export class DeprecatedCalls {
  @PrimaryColumn('varchar', { name: 'client_id', length: 36 })
  clientId!: string;

  /** Method and route template, such as `GET /v1/pets/:petId`. */
  @PrimaryColumn('varchar', { length: 200 })
  operation!: string;

  /** Start of the day, in ms since the Unix epoch. */
  @Int64Column({ primary: true })
  @Index('deprecated_calls_day')
  day!: bigint;

  @Column('integer')
  calls!: number;
}

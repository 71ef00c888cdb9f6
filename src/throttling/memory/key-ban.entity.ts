import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { Int64Column } from '../../database/int64.js';

/** Strikes and ban of one API key. Instants are in ms since the Unix epoch; see BanState. */
@Entity('key_bans')
export class KeyBan {
  @PrimaryColumn('varchar', { name: 'key_id', length: 36 })
  keyId!: string;

  @Int64Column({ name: 'retry_at' })
  retryAt!: bigint;

  @Int64Column({ name: 'forgiven_until' })
  forgivenUntil!: bigint;

  @Column('integer')
  strikes!: number;

  @Int64Column({ name: 'last_strike_at' })
  lastStrikeAt!: bigint;

  @Column('integer')
  bans!: number;

  @Int64Column({ name: 'banned_until' })
  bannedUntil!: bigint;

  /** When an operator lifted the ban; 0 when none did. */
  @Int64Column({ name: 'lifted_at' })
  @Index('key_bans_lifted')
  liftedAt!: bigint;
}

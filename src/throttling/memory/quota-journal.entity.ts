import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { Int64Column } from '../../database/int64.js';

/** Requests of a client in one UTC day. */
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

/** Requests of a client in the last minute in which it sent any. */
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

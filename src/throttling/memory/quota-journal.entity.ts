import { Column, type ColumnOptions, Entity, Index, PrimaryColumn } from 'typeorm';
import type { BanState } from '../bans.js';

/** A column for times in ms since the Unix epoch, which a number holds exactly. PostgreSQL returns text. */
export const Instant = (name: string, options: ColumnOptions = {}): PropertyDecorator =>
  Column('bigint', { ...options, name, transformer: { to: (value: unknown) => value, from: Number } });

/** Requests of a client in one UTC day. */
@Entity('quota_counts')
export class QuotaCount {
  /** Subject of the count, such as `client:<id>`. */
  @PrimaryColumn('varchar', { length: 200 })
  key!: string;

  /** Start of the window, in ms since the Unix epoch. */
  @Instant('window_start', { primary: true })
  @Index('quota_counts_window')
  windowStart!: number;

  @Column('integer')
  used!: number;
}

/** Requests of a client in the last minute in which it sent any. */
@Entity('quota_minutes')
export class QuotaMinute {
  /** Subject of the count, such as `client:<id>`. */
  @PrimaryColumn('varchar', { length: 200 })
  key!: string;

  /** Start of the minute, in ms since the Unix epoch. */
  @Instant('window_start')
  windowStart!: number;

  @Column('integer')
  used!: number;
}

/** Strikes and ban of one API key. */
@Entity('key_bans')
export class KeyBan implements BanState {
  @PrimaryColumn('varchar', { name: 'key_id', length: 36 })
  keyId!: string;

  @Instant('retry_at')
  retryAt!: number;

  @Instant('forgiven_until')
  forgivenUntil!: number;

  @Column('integer')
  strikes!: number;

  @Instant('last_strike_at')
  lastStrikeAt!: number;

  @Column('integer')
  bans!: number;

  @Instant('banned_until')
  bannedUntil!: number;

  /** When an operator lifted the ban; 0 if never. */
  @Instant('lifted_at')
  @Index('key_bans_lifted')
  liftedAt!: number;
}

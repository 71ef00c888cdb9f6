import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { DAY_MS, HOUR_MS } from '../../core/time/duration.js';
import { Instant } from '../../throttling/memory/quota-journal.entity.js';

/** What an operator looks for among clients, and the length of the UTC window that it is counted in, in milliseconds. */
export const ALERTS = {
  /** Requests refused with 429 in an hour. */
  refused: HOUR_MS,
  /** Requests refused with 429 in a day. */
  refused_today: DAY_MS,
  /** The share of the day's requests that is used, in percent: 80 or 100. */
  near_limit: DAY_MS,
  /** Calls of deprecated operations in a day. */
  deprecated: DAY_MS,
} as const;
export type AlertKind = keyof typeof ALERTS;

/** How much of one kind a client has in one window. The index finds the clients with most of it, however many clients there are. */
@Entity('client_alerts')
@Index('client_alerts_most', ['kind', 'start', 'amount', 'clientId'])
export class ClientAlert {
  @PrimaryColumn('varchar', { length: 20 })
  kind!: AlertKind;

  /** Start of the window, in ms since the Unix epoch. */
  @Instant('window_start', { primary: true })
  start!: number;

  @PrimaryColumn('varchar', { name: 'client_id', length: 36 })
  clientId!: string;

  @Column('integer')
  amount!: number;
}

import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { DAY_MS, HOUR_MS } from '../../core/time/duration.js';
import { Instant } from '../../throttling/memory/quota-journal.entity.js';

const TODAY = { lengthMs: DAY_MS, windows: 1 };

/**
 * What an operator looks for among clients, the length of the UTC window that it is counted in, in milliseconds, and in how many windows it
 * counts: that of its time, and those that follow.
 */
export const ALERTS = {
  /** Requests refused with 429 in an hour or the previous one, so that a flood is found in the first minutes of an hour. */
  refused: { lengthMs: HOUR_MS, windows: 2 },
  /** Requests refused with 429 in a day. */
  refused_today: TODAY,
  /** The share of the day's requests that is used, in percent: 80 or 100. */
  near_limit: TODAY,
  /** Calls of deprecated operations in a day. */
  deprecated: TODAY,
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

import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { DAY_MS, HOUR_MS } from '../../core/time/duration.js';
import { Instant } from '../../throttling/memory/quota-journal.entity.js';

const TODAY = { lengthMs: DAY_MS, windows: 1 };

/**
 * Kinds of alerts for operators, the length of their UTC window in milliseconds, and the number of windows in which an alert counts,
 * starting with its own.
 */
export const ALERTS = {
  /** Requests refused with 429 in an hour or the previous one, so that a flood is found in the first minutes of an hour. */
  refused: { lengthMs: HOUR_MS, windows: 2 },
  /** Requests refused with 429 in a day. */
  refused_today: TODAY,
  /** The percentage of the day's quota that is used: 80 or 100. */
  near_limit: TODAY,
  /** Calls to deprecated operations in a day. */
  deprecated: TODAY,
} as const;
export type AlertKind = keyof typeof ALERTS;

/** The amount of one kind of alert for a client in one window. The index finds the clients with the largest amounts. */
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

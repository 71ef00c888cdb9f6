import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { DAY_MS, MINUTE_MS } from '../../core/time/duration.js';
import { Instant } from '../../throttling/memory/quota-journal.entity.js';

const TODAY = { lengthMs: DAY_MS, windows: 1 };

/**
 * What an operator looks for among clients, the length of the UTC windows that it is counted in, in milliseconds, and how many of them
 * are added up, of which the current one is the last.
 */
export const ALERTS = {
  /** Requests refused with 429 in the last 60 minutes. */
  refused: { lengthMs: MINUTE_MS, windows: 60 },
  /** Requests refused with 429 in a day. */
  refused_today: TODAY,
  /** The share of the day's requests that is used, in percent: 80 or 100. */
  near_limit: TODAY,
  /** Calls of deprecated operations in a day. */
  deprecated: TODAY,
} as const;
export type AlertKind = keyof typeof ALERTS;

/** How much of one kind a client has in one window. The index has all that lists need, of whichever clients are in a window. */
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

import { Column, Entity, Index } from 'typeorm';
import { Int64Column, Int64Key } from '../../database/int64.js';

/** The `dueAt` of an event that was never tried, or was released by an operator. */
export const AT_ONCE = 0n;

/** An event that one listener has not handled yet; the row is deleted afterwards. */
@Entity('outbox_events')
@Index('outbox_events_waiting', ['listener', 'id'], { where: 'due_at IS NOT NULL' })
@Index('outbox_events_backlog', ['listener', 'event', 'publishedAt', 'dueAt'], {
  where: 'due_at IS NOT NULL',
})
@Index('outbox_events_key', ['listener', 'key', 'dueAt'])
export class OutboxEvent {
  @Int64Key()
  id!: bigint;

  /** Name of the listener in its `@OnDomainEvent()`. */
  @Column('varchar', { length: 100 })
  listener!: string;

  @Column('varchar', { length: 100 })
  event!: string;

  /** A listener receives the events of one key in the order of publication. */
  @Column('varchar', { length: 255 })
  key!: string;

  /** The data for the listener (event-data.ts). */
  @Column('text', { name: 'told' })
  data!: string;

  @Column('varchar', { name: 'published_at', length: 24 })
  publishedAt!: string;

  /** How often the listener has failed to handle it. */
  @Column('integer')
  failures!: number;

  /** When it may be delivered, in ms since the Unix epoch, or AT_ONCE; null if it is parked. */
  @Int64Column({ name: 'due_at', nullable: true })
  dueAt!: bigint | null;

  /** The listener's last error, for operators. */
  @Column('varchar', { length: 500, nullable: true })
  error!: string | null;
}
